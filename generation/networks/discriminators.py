"""EmpDG's two discriminators: how well does a reply fit its context and the feedback that came after it?

    D(reply) = w . ReLU(f + d + c) + b          f = max over time of ReLU(convolution of the LSTM's states of the reply)

d is the LSTM's last state of the feedback, which is the speaker's next turn; c is the context's vector (equations 16
and 17 of the EmpDG paper). The semantic discriminator reads all words, the emotional one only emotion words. A made
reply is a distribution over words at each place, which a discriminator reads as the expected vector, sum of P(word) *
vector. So its gradient reaches the generator.

    loss of a discriminator = D(made) - D(human) + .1 (||gradient of D at a mixture of both|| - 1)^2

Shapes: B dialogs, T tokens, V words, W width.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

PENALTY = 0.1
CONVOLUTION_WIDTH = 2


class Discriminator(nn.Module):
    def __init__(self, vocabulary_size: int, width: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary_size, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.convolution = nn.Conv1d(width, width, CONVOLUTION_WIDTH)
        self.output = nn.Linear(width, 1)
        nn.init.normal_(self.words.weight, std=0.01)

    def read(self, weights: Tensor) -> Tensor:
        """Read expected words, [B, T, V] -> states [B, T, W]. A place where all weights are 0 has no word to read."""
        states, _ = self.lstm(weights @ self.words.weight)
        read: Tensor = states
        return read

    def read_ids(self, ids: Tensor, is_read: Tensor) -> Tensor:
        """Read words, [B, T] -> states [B, T, W], but only those where `is_read` [B, T] says so."""
        states, _ = self.lstm(self.words(ids) * is_read[:, :, None])
        read: Tensor = states
        return read

    def judge(self, states: Tensor, lengths: Tensor, feedback: Tensor, context: Tensor) -> Tensor:
        """Judge replies of these lengths [B] by their states; `feedback` and `context` are [B, W]. Return [B]."""
        features = F.relu(self.convolution(states.transpose(1, 2)))  # [B, W, T - 1]
        starts = torch.arange(features.shape[2], device=lengths.device)
        is_inside = starts < (lengths[:, None] - CONVOLUTION_WIDTH + 1)
        strongest = features.masked_fill(~is_inside[:, None], 0.0).amax(dim=2)  # ReLU's results are at least 0
        judged: Tensor = self.output(F.relu(strongest + feedback + context))
        return judged[:, 0]

    def loss(self, made: Tensor, human: Tensor, lengths: Tensor, feedback: Tensor, context: Tensor) -> Tensor:
        """Return the loss [B] of telling made from human replies, [B, T, W] states each."""
        share = torch.rand(len(made), 1, 1, device=made.device)
        mixture = (share * made + (1 - share) * human).detach().requires_grad_()
        judged = self.judge(mixture, lengths, feedback.detach(), context)
        [gradient] = torch.autograd.grad(judged.sum(), mixture, create_graph=True)
        penalty: Tensor = (gradient.flatten(1).norm(dim=1) - 1).square()
        difference = self.judge(made, lengths, feedback, context) - self.judge(human, lengths, feedback, context)
        return difference + PENALTY * penalty


def last_states(states: Tensor, lengths: Tensor) -> Tensor:
    """Return each text's state at its last token: [B, T, W] and [B] -> [B, W]."""
    last: Tensor = states[torch.arange(len(states), device=states.device), lengths - 1]
    return last
