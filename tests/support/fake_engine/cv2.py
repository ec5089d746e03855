"""What text recognition asks of OpenCV."""


def setNumThreads(_number: int) -> None:  # noqa: N802  # as OpenCV calls it
    pass
