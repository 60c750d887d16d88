"""A student's model in NumPy, sentence by sentence, with the mistakes in `MISTAKES`. Written without the reference."""

import numpy as np

MISTAKES = set()


def wrong(name):
    return name in MISTAKES


def sigma(v):
    return 1 / (1 + np.exp(-v))


def softmax(v, axis=-1):
    v = np.exp(v - v.max(axis=axis, keepdims=True))
    return v / v.sum(axis=axis, keepdims=True)


def relu(v):
    return np.maximum(v, 0)


def unit(p, k, s, x, c=None):
    if wrong("recurrent-transposed"):
        p = {**p, **{f"{name}_{k}": p[f"{name}_{k}"].T for name in ("U", "Uz", "Ur")}}

    def into(g):
        return p[f"W{g}_{k}"].dot(x) + (p[f"C{g}_{k}"].dot(c) if c is not None else 0)

    z = sigma(into("z") + p[f"Uz_{k}"].dot(s))
    r = sigma(into("r") + p[f"Ur_{k}"].dot(s))
    if wrong("no-reset-gate"):
        r = 1
    a = into("") + (0 if wrong("no-candidate-bias") else p[f"b_{k}"])
    a = a + (r * p[f"U_{k}"].dot(s) if wrong("reset-after-product") else p[f"U_{k}"].dot(r * s))
    new = relu(a) if wrong("candidate-relu") else np.tanh(a)
    return z * s + (1 - z) * new if wrong("gates-exchanged") else s + z * (new - s)


def gated_unit(p, s, word, c):
    return np.array([unit(p, "dec", *row) for row in zip(s, word, c, strict=True)])


def encoder(p, x, mask):
    return np.array([annotations(p, ids, int(real.sum())) for ids, real in zip(x, mask, strict=True)])


def annotations(p, ids, length):
    words = p["E_src"][ids]
    total, n = len(ids), len(p["b_fwd"])
    there, back = np.zeros((total, n)), np.zeros((total, n))
    s = np.zeros(n)
    end = total if wrong("encoder-reads-padding") else length
    for j in range(end):
        s = there[j] = unit(p, "fwd", s, words[j])
    s = np.zeros(n)
    for j in range(end) if wrong("backward-reads-forward") else range(end - 1, -1, -1):
        s = back[j] = unit(p, "bwd", s, words[j])
    if wrong("backward-not-reversed-back"):
        back[:length] = back[:length][::-1].copy()
    if wrong("backward-reversed-with-padding"):
        back = back[::-1]
    return np.hstack([back, there] if wrong("halves-exchanged") else [there, back])


def initial_state(p, h, mask):
    n = h.shape[2] // 2
    if wrong("initial-state-zero"):
        return np.zeros((len(h), n))
    states = []
    for sentence, real in zip(h, mask, strict=True):
        words = sentence[real]
        v = words[0, n:]
        if wrong("initial-state-forward"):
            v = words[-1, :n]
        if wrong("initial-state-last-backward"):
            v = words[-1, n:]
        if wrong("initial-state-mean"):
            v = words[:, n:].mean(0)
        v = v @ p["W_s"] if wrong("initial-state-transposed") else p["W_s"] @ v
        v = v + (0 if wrong("no-initial-bias") else p["b_s"])
        states.append(v if wrong("initial-state-linear") else relu(v) if wrong("initial-state-relu") else np.tanh(v))
    return np.array(states)


def energies(p, s, h):
    e = np.zeros(h.shape[:2])
    for b in range(h.shape[0]):
        for j in range(h.shape[1]):
            q, k = p["W_a"] @ s[b], p["U_a"] @ h[b, j]
            if wrong("energy-bias"):
                k = k + p["b_a"]
            if wrong("energy-dot-product"):
                e[b, j] = q @ k
            elif wrong("energy-scaled-dot-product"):
                e[b, j] = q @ k / len(q) ** 0.5
            else:
                inner = relu if wrong("energy-relu") else np.tanh
                if wrong("energy-linear") or wrong("energy-tanh-last"):
                    inner = np.positive
                e[b, j] = (np.ones(len(q)) if wrong("energy-without-v_a") else p["v_a"]) @ inner(q + k)
                if wrong("energy-tanh-last"):
                    e[b, j] = np.tanh(e[b, j])
    return e


def weights(e, mask):
    axis = 0 if wrong("softmax-wrong-axis") else 1
    if wrong("padding-not-masked"):
        return softmax(e, axis)
    if wrong("mask-after-softmax"):
        return softmax(e, axis) * mask
    if wrong("padding-energy-zero"):
        return softmax(e * mask, axis)
    if wrong("mask-inverted"):
        return softmax(np.where(mask, -1e30, e), axis)
    return softmax(np.where(mask, e, -np.inf), axis)


def context(alpha, h):
    if wrong("context-mean"):
        return h.mean(1)
    if wrong("context-best"):
        return np.array([h[b, alpha[b].argmax()] for b in range(len(h))])
    return np.einsum("bj,bjk->bk", alpha, h)


def readout(p, s, previous, c):
    v = np.concatenate([s, previous, c], 1) @ np.concatenate([p["U_o"], p["V_o"], p["C_o"]], 1).T
    if not wrong("no-readout-bias"):
        v = v + p["b_o"]
    half = v.shape[1] // 2
    if wrong("no-maxout"):
        return v
    if wrong("maxout-left-out"):
        return v[:, :half]
    pairs = v.reshape(len(v), 2, half).transpose(0, 2, 1) if wrong("maxout-halves") else v.reshape(len(v), half, 2)
    return pairs.mean(2) if wrong("mean-of-neighbours") else pairs.max(2)


def distribution(p, t):
    v = np.einsum("kl,bl->bk", p["W_o"], t)
    if not wrong("no-softmax-bias"):
        v = v + p["b_w"]
    if wrong("distribution-scores"):
        return v
    q = softmax(v, 0 if wrong("distribution-wrong-axis") else 1)
    return np.log(q) if wrong("distribution-in-logarithms") else q


def look(p, s, h, mask):
    return context(weights(energies(p, s, h), mask), h)


def step(p, s, c_previous, previous, word, h, mask):
    shown = word if wrong("predicts-from-own-word") else previous
    if wrong("attends-with-new-state"):
        s = gated_unit(p, s, previous, c_previous)
        c = look(p, s, h, mask)
        return distribution(p, readout(p, s, shown, c)), s, c
    c = look(p, s, h, mask)
    use = c_previous if wrong("context-of-previous-step") else c
    if wrong("updates-before-predicting"):
        s = gated_unit(p, s, previous, use)
        return distribution(p, readout(p, s, shown, use)), s, c
    q = distribution(p, readout(p, s, shown, use))
    return q, gated_unit(p, s, previous if wrong("updates-with-previous-word") else word, use), c


def decoder_step(p, s, c_previous, previous, word, h, mask):
    return step(p, s, c_previous, previous, word, h, mask)[:2]


def log_probability(p, x, mask, y, y_mask):
    h = encoder(p, x, mask)
    s, c = initial_state(p, h, mask), np.zeros((len(x), h.shape[2]))
    previous = np.tile(p["E_tgt"][0], (len(x), 1)) * wrong("first-word-embedded")
    total = np.zeros(len(x))
    for i in range(y.shape[1]):
        word = p["E_tgt"][y[:, i]]
        if wrong("no-teacher-forcing"):
            word = p["E_tgt"][step(p, s, c, previous, word, h, mask)[0].argmax(1)]
        q, s, c = step(p, s, c, previous, word, h, mask)
        log_q = np.log([row[k] for row, k in zip(q, y[:, i], strict=True)])
        counts = y_mask[:, i].astype(float)
        if wrong("end-not-scored"):
            counts = counts * (i + 1 != y_mask.sum(1))
        if wrong("target-padding-scored"):
            counts = 1.0
        total += log_q * counts
        previous = word
    return total


def loss(p, x, mask, y, y_mask):
    total = log_probability(p, x, mask, y, y_mask).sum()
    total = total if wrong("loss-sign") else -total
    return total if wrong("loss-sum") else total / y_mask.sum() if wrong("loss-mean-of-words") else total / len(x)


def clip(g, limit):
    if wrong("clip-by-value"):
        return {k: np.minimum(np.maximum(v, -limit), limit) for k, v in g.items()}
    if wrong("clip-each-tensor"):
        return {k: v / max(1, np.linalg.norm(v) / limit) for k, v in g.items()}
    norm = np.linalg.norm(np.concatenate([v.ravel() for v in g.values()]))
    return {k: v / max(1, norm / limit) for k, v in g.items()}
