"""What `toy_study` imports."""


def count(text: str) -> int:
    return sum(character.isalpha() for character in text)
