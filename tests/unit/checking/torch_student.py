"""A student's model in PyTorch, on whole minibatches, with the mistakes in `MISTAKES`. Written without the reference."""

import torch
from torch.nn.functional import linear

MISTAKES = set()


def wrong(name):
    return name in MISTAKES


def cell(p, side, s, x, c=None):
    Uz, Ur, U = (p[f"{name}_{side}"] for name in ("Uz", "Ur", "U"))
    if wrong("recurrent-transposed"):
        Uz, Ur, U = Uz.t(), Ur.t(), U.t()
    W = torch.cat([p[f"W{gate}_{side}"] for gate in ("z", "r", "")])
    v = linear(x, W)
    if c is not None:
        v = v + linear(c, torch.cat([p[f"C{gate}_{side}"] for gate in ("z", "r", "")]))
    vz, vr, v = v.chunk(3, -1)
    z = torch.sigmoid(vz + linear(s, Uz))
    r = torch.ones_like(z) if wrong("no-reset-gate") else torch.sigmoid(vr + linear(s, Ur))
    if not wrong("no-candidate-bias"):
        v = v + p[f"b_{side}"]
    v = v + (r * linear(s, U) if wrong("reset-after-product") else linear(r * s, U))
    new = torch.relu(v) if wrong("candidate-relu") else torch.tanh(v)
    return torch.lerp(new, s, z) if wrong("gates-exchanged") else torch.lerp(s, new, z)


def gated_unit(p, s, word, c):
    return cell(p, "dec", s, word, c)


def encoder(p, x, mask):
    words = p["E_src"][x]
    there, back = [], [None] * x.shape[1]
    zero = words.new_zeros(len(x), p["b_fwd"].shape[0])
    s = zero
    for j in range(x.shape[1]):
        s = cell(p, "fwd", s, words[:, j])
        there.append(s)
    s = zero
    for j in range(x.shape[1]) if wrong("backward-reads-forward") else reversed(range(x.shape[1])):
        s = cell(p, "bwd", s, words[:, j])
        if not wrong("encoder-reads-padding"):
            s = s * mask[:, j, None]
        back[j] = s
    there, back = torch.stack(there, 1), torch.stack(back, 1)
    if not wrong("encoder-reads-padding"):
        there = there * mask[..., None]
    if wrong("backward-not-reversed-back"):
        position = torch.arange(x.shape[1])
        length = mask.sum(1, keepdim=True)
        mirrored = torch.where(position < length, length - 1 - position, position)
        back = back.gather(1, mirrored[..., None].expand_as(back))
    if wrong("backward-reversed-with-padding"):
        back = back.flip(1)
    return torch.cat([back, there] if wrong("halves-exchanged") else [there, back], 2)


def initial_state(p, h, mask):
    forward, backward = h.chunk(2, 2)
    last = mask.sum(1) - 1
    rows = torch.arange(len(h))
    if wrong("initial-state-zero"):
        return torch.zeros_like(backward[:, 0])
    v = backward[:, 0]
    if wrong("initial-state-forward"):
        v = forward[rows, last]
    if wrong("initial-state-last-backward"):
        v = backward[rows, last]
    if wrong("initial-state-mean"):
        v = (backward * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    W = p["W_s"].t() if wrong("initial-state-transposed") else p["W_s"]
    v = linear(v, W, None if wrong("no-initial-bias") else p["b_s"])
    return v if wrong("initial-state-linear") else v.relu() if wrong("initial-state-relu") else v.tanh()


def energies(p, s, h):
    q = linear(s, p["W_a"])[:, None]
    k = linear(h, p["U_a"], p["b_a"] if wrong("energy-bias") else None)
    if wrong("energy-dot-product"):
        return torch.einsum("bxa,bja->bj", q, k)
    if wrong("energy-scaled-dot-product"):
        return torch.einsum("bxa,bja->bj", q, k) * q.shape[-1] ** -0.5
    if wrong("energy-linear") or wrong("energy-tanh-last"):
        v = q + k
    else:
        v = (q + k).relu() if wrong("energy-relu") else (q + k).tanh()
    e = v.sum(2) if wrong("energy-without-v_a") else v.matmul(p["v_a"])
    return e.tanh() if wrong("energy-tanh-last") else e


def weights(e, mask):
    dim = 0 if wrong("softmax-wrong-axis") else 1
    if wrong("padding-not-masked"):
        return e.softmax(dim)
    if wrong("mask-after-softmax"):
        return e.softmax(dim) * mask
    if wrong("padding-energy-zero"):
        return e.masked_fill(~mask, 0).softmax(dim)
    if wrong("mask-inverted"):
        return e.masked_fill(mask, -1e30).softmax(dim)
    return e.masked_fill(~mask, -torch.inf).softmax(dim)


def context(alpha, h):
    if wrong("context-mean"):
        return h.mean(1)
    if wrong("context-best"):
        return h[torch.arange(len(h)), alpha.argmax(1)]
    return torch.bmm(alpha[:, None], h)[:, 0]


def readout(p, s, previous, c):
    v = linear(s, p["U_o"], None if wrong("no-readout-bias") else p["b_o"])
    v = v + linear(previous, p["V_o"]) + linear(c, p["C_o"])
    half = v.shape[1] // 2
    if wrong("no-maxout"):
        return v
    if wrong("maxout-left-out"):
        return v[:, :half]
    if wrong("maxout-halves"):
        return torch.maximum(*v.chunk(2, 1))
    v = v.unflatten(1, (half, 2))
    return v.mean(2) if wrong("mean-of-neighbours") else v.amax(2)


def distribution(p, t):
    v = linear(t, p["W_o"], None if wrong("no-softmax-bias") else p["b_w"])
    if wrong("distribution-scores"):
        return v
    dim = 0 if wrong("distribution-wrong-axis") else 1
    return v.log_softmax(dim) if wrong("distribution-in-logarithms") else v.softmax(dim)


def step(p, s, c_previous, previous, word, h, mask):
    read = word if wrong("predicts-from-own-word") else previous
    late = wrong("attends-with-new-state")
    if late:
        s = cell(p, "dec", s, previous, c_previous)
    c = context(weights(energies(p, s, h), mask), h)
    use = c_previous if wrong("context-of-previous-step") and not late else c
    if wrong("updates-before-predicting") and not late:
        s = cell(p, "dec", s, previous, use)
    q = distribution(p, readout(p, s, read, use))
    if not late and not wrong("updates-before-predicting"):
        s = cell(p, "dec", s, previous if wrong("updates-with-previous-word") else word, use)
    return q, s, c


def decoder_step(p, s, c_previous, previous, word, h, mask):
    q, s, _ = step(p, s, c_previous, previous, word, h, mask)
    return q, s


def log_probability(p, x, mask, y, y_mask):
    h = encoder(p, x, mask)
    s, c = initial_state(p, h, mask), torch.zeros_like(h[:, 0])
    words = p["E_tgt"][y]
    previous = p["E_tgt"][torch.zeros_like(y[:, 0])] if wrong("first-word-embedded") else torch.zeros_like(words[:, 0])
    scores = []
    for i in range(y.shape[1]):
        word = words[:, i]
        if wrong("no-teacher-forcing"):
            word = p["E_tgt"][step(p, s, c, previous, word, h, mask)[0].argmax(1)]
        q, s, c = step(p, s, c, previous, word, h, mask)
        scores.append(q.gather(1, y[:, i, None]).log()[:, 0])
        previous = word
    if wrong("end-not-scored"):
        y_mask = torch.cat([y_mask[:, 1:], torch.zeros_like(y_mask[:, :1])], 1)
    scores = torch.stack(scores, 1)
    return scores.sum(1) if wrong("target-padding-scored") else (scores * y_mask).sum(1)


def loss(p, x, mask, y, y_mask):
    nll = log_probability(p, x, mask, y, y_mask) * (1 if wrong("loss-sign") else -1)
    return nll.sum() if wrong("loss-sum") else nll.sum() / y_mask.sum() if wrong("loss-mean-of-words") else nll.mean()


def clip(g, limit):
    if wrong("clip-by-value"):
        return {name: v.clamp(-limit, limit) for name, v in g.items()}
    tensors = [torch.nn.Parameter(v.clone()) for v in g.values()]
    for tensor in tensors:
        tensor.grad = tensor.data.clone()
    for group in [[tensor] for tensor in tensors] if wrong("clip-each-tensor") else [tensors]:
        torch.nn.utils.clip_grad_norm_(group, limit)
    return {name: tensor.grad for name, tensor in zip(g, tensors, strict=True)}
