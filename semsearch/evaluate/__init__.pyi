"""What `semsearch query --mark` needs."""

from .golden import ExpectedAnswer as ExpectedAnswer, append_answer as append_answer
