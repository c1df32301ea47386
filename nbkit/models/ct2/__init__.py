"""CTranslate2: the same checkpoints, run by an engine that is several times as fast on a CPU."""
