"""Run files (`params`) become a `plan`; `run` carries it out, by `workers` or a `cluster`, in an output `folder`."""
