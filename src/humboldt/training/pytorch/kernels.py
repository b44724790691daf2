"""Attention, normalisation and linear layers of all members as one kernel each, in Triton, for NVIDIA cards.

A kernel never adds in an order that may vary: the same inputs give the same bits. `fused` calls them. Triton compiles a
kernel of its own for all values of the arguments in capitals. `PRECISION` is that of products: "tf32" rounds their
factors to ten binary digits, "tf32x3" does three such products and has nearly single precision.
"""

import triton  # pyright: ignore[reportMissingImports]
import triton.language as tl  # pyright: ignore[reportMissingImports]


@triton.jit
def _rounded(x, PRECISION: tl.constexpr):
    """Returns a factor as the nearest number that TF32 has. The card itself would cut the digits off."""
    if PRECISION == "tf32" and x.dtype == tl.float32:
        bits = x.to(tl.int32, bitcast=True)
        is_finite = (bits & 0x7F800000) != 0x7F800000
        x = tl.where(is_finite, (bits + 0x1000) & -0x2000, bits).to(tl.float32, bitcast=True)
    return x


@triton.jit
def _product(a, b, PRECISION: tl.constexpr):
    """Returns the product of two tiles."""
    return tl.dot(_rounded(a, PRECISION), _rounded(b, PRECISION), input_precision=PRECISION)


@triton.jit
def _scores(
    q, k, mask_ptr, rows, columns, queries, keys, scale, stride_mq, stride_mk,
    CAUSAL: tl.constexpr, MASK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Returns the scores of a tile of queries and keys; minus infinity where attention is not allowed."""
    scores = _product(q, tl.trans(k), PRECISION) * scale
    inside = (rows < queries)[:, None] & (columns < keys)[None, :]
    allowed = inside
    if CAUSAL:
        allowed = allowed & (columns[None, :] <= rows[:, None])
    if MASK != "none":
        given = tl.load(mask_ptr + rows[:, None] * stride_mq + columns[None, :] * stride_mk, mask=inside, other=0)
        if MASK == "bool":
            allowed = allowed & (given != 0)
        else:
            scores = scores + given.to(tl.float32)
    return tl.where(allowed, scores, float("-inf"))


@triton.jit(do_not_specialize=["queries", "keys", "mask_examples"])
def attention(
    q_ptr, k_ptr, v_ptr, mask_ptr, out_ptr, sums_ptr, queries, keys, mask_examples, scale,
    stride_qn, stride_qh, stride_qt, stride_kn, stride_kh, stride_kt, stride_vn, stride_vh, stride_vt,
    stride_mn, stride_mh, stride_mq, stride_mk, stride_on, stride_oh, stride_ot,
    SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr, MASK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Attention of one head of one example, in tiles of `ROWS` queries and `COLUMNS` keys. `sums` are the logarithms of
    the sums of exponentials of each query."""
    example, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    width = tl.arange(0, WIDTH)
    is_number = (width < SIZE)[None, :]
    mask_ptr += (example % mask_examples) * stride_mn + head * stride_mh
    q_ptr += example * stride_qn + head * stride_qh
    k_ptr += example * stride_kn + head * stride_kh
    v_ptr += example * stride_vn + head * stride_vh
    out_ptr += example * stride_on + head * stride_oh
    sums_ptr += (example * tl.num_programs(1) + head) * queries
    for first in range(0, queries, ROWS):
        rows = first + tl.arange(0, ROWS)
        inside = (rows < queries)[:, None] & is_number
        q = tl.load(q_ptr + rows[:, None] * stride_qt + width[None, :], mask=inside, other=0.0)
        largest = tl.full([ROWS], float("-inf"), tl.float32)
        total = tl.zeros([ROWS], tl.float32)
        out = tl.zeros([ROWS, WIDTH], tl.float32)
        last = keys
        if CAUSAL:
            last = tl.minimum(keys, first + ROWS)
        for begin in range(0, last, COLUMNS):
            columns = begin + tl.arange(0, COLUMNS)
            is_key = (columns < keys)[:, None] & is_number
            k = tl.load(k_ptr + columns[:, None] * stride_kt + width[None, :], mask=is_key, other=0.0)
            v = tl.load(v_ptr + columns[:, None] * stride_vt + width[None, :], mask=is_key, other=0.0)
            scores = _scores(
                q, k, mask_ptr, rows, columns, queries, keys, scale, stride_mq, stride_mk, CAUSAL, MASK, PRECISION
            )
            above = tl.maximum(largest, tl.max(scores, 1))
            shift = tl.where(above == float("-inf"), 0.0, above)
            weights = tl.exp(scores - shift[:, None])
            kept = tl.exp(largest - shift)
            total = total * kept + tl.sum(weights, 1)
            out = out * kept[:, None] + _product(weights.to(v.dtype), v, PRECISION)
            largest = above
        divisor = tl.where(total == 0.0, 1.0, total)  # a query that may not attend to anything gets zeros
        sums = tl.where(total == 0.0, float("inf"), largest + tl.log(divisor))
        out = out / divisor[:, None]
        place = out_ptr + rows[:, None] * stride_ot + width[None, :]
        tl.store(place, out.to(out_ptr.dtype.element_ty), mask=inside)
        tl.store(sums_ptr + rows, sums, mask=rows < queries)


@triton.jit(do_not_specialize=["queries", "keys", "mask_examples"])
def attention_backward(
    q_ptr, k_ptr, v_ptr, mask_ptr, out_ptr, sums_ptr, d_ptr, dq_ptr, dk_ptr, dv_ptr,
    queries, keys, mask_examples, scale,
    stride_qn, stride_qh, stride_qt, stride_kn, stride_kh, stride_kt, stride_vn, stride_vh, stride_vt,
    stride_mn, stride_mh, stride_mq, stride_mk, stride_on, stride_oh, stride_ot, stride_dn, stride_dh, stride_dt,
    stride_dqn, stride_dqh, stride_dqt, stride_dkn, stride_dkh, stride_dkt, stride_dvn, stride_dvh, stride_dvt,
    SIZE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, WIDTH: tl.constexpr,
    CAUSAL: tl.constexpr, MASK: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Gradients of `attention`. Scores are computed again; a tile of keys adds its part to the gradients of queries."""
    example, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    width = tl.arange(0, WIDTH)
    is_number = (width < SIZE)[None, :]
    mask_ptr += (example % mask_examples) * stride_mn + head * stride_mh
    q_ptr += example * stride_qn + head * stride_qh
    k_ptr += example * stride_kn + head * stride_kh
    v_ptr += example * stride_vn + head * stride_vh
    out_ptr += example * stride_on + head * stride_oh
    sums_ptr += (example * tl.num_programs(1) + head) * queries
    d_ptr += example * stride_dn + head * stride_dh
    dq_ptr += example * stride_dqn + head * stride_dqh
    dk_ptr += example * stride_dkn + head * stride_dkh
    dv_ptr += example * stride_dvn + head * stride_dvh
    for begin in range(0, keys, COLUMNS):
        columns = begin + tl.arange(0, COLUMNS)
        is_key = (columns < keys)[:, None] & is_number
        k = tl.load(k_ptr + columns[:, None] * stride_kt + width[None, :], mask=is_key, other=0.0)
        v = tl.load(v_ptr + columns[:, None] * stride_vt + width[None, :], mask=is_key, other=0.0)
        dk = tl.zeros([COLUMNS, WIDTH], tl.float32)
        dv = tl.zeros([COLUMNS, WIDTH], tl.float32)
        start = 0
        if CAUSAL:
            start = (begin // ROWS) * ROWS
        for first in range(start, queries, ROWS):
            rows = first + tl.arange(0, ROWS)
            inside = (rows < queries)[:, None] & is_number
            q = tl.load(q_ptr + rows[:, None] * stride_qt + width[None, :], mask=inside, other=0.0)
            d = tl.load(d_ptr + rows[:, None] * stride_dt + width[None, :], mask=inside, other=0.0)
            out = tl.load(out_ptr + rows[:, None] * stride_ot + width[None, :], mask=inside, other=0.0)
            sums = tl.load(sums_ptr + rows, mask=rows < queries, other=float("inf"))
            scores = _scores(
                q, k, mask_ptr, rows, columns, queries, keys, scale, stride_mq, stride_mk, CAUSAL, MASK, PRECISION
            )
            weights = tl.exp(scores - sums[:, None])
            dv += _product(tl.trans(weights.to(d.dtype)), d, PRECISION)
            mean = tl.sum(out.to(tl.float32) * d.to(tl.float32), 1, keep_dims=True)
            of_weights = _product(d, tl.trans(v), PRECISION)
            of_scores = (weights * (of_weights - mean) * scale).to(q.dtype)
            dk += _product(tl.trans(of_scores), q, PRECISION)
            place = dq_ptr + rows[:, None] * stride_dqt + width[None, :]
            before = tl.load(place, mask=inside & (begin > 0), other=0.0)
            tl.store(place, before + _product(of_scores, k, PRECISION), mask=inside)
        dk_place = dk_ptr + columns[:, None] * stride_dkt + width[None, :]
        dv_place = dv_ptr + columns[:, None] * stride_dvt + width[None, :]
        tl.store(dk_place, dk.to(dk_ptr.dtype.element_ty), mask=is_key)
        tl.store(dv_place, dv.to(dv_ptr.dtype.element_ty), mask=is_key)
        tl.debug_barrier()  # the next tile reads the gradients of queries


@triton.jit(do_not_specialize=["count"])
def layer_norm(
    x_ptr, weight_ptr, bias_ptr, y_ptr, statistics_ptr, count, epsilon,
    SIZE: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Normalises `ROWS` of the `count` vectors of one member. Keeps the mean and the inverse deviation of each."""
    member = tl.program_id(1).to(tl.int64)
    rows, width = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    is_row, is_number = rows < count, width < SIZE
    inside = is_row[:, None] & is_number[None, :]
    place = (member * count + rows)[:, None] * SIZE + width[None, :]
    x = tl.load(x_ptr + place, mask=inside, other=0.0)
    mean = tl.sum(x, 1) / SIZE
    centred = tl.where(inside, x - mean[:, None], 0.0)
    inverse = 1 / tl.sqrt(tl.sum(centred * centred, 1) / SIZE + epsilon)
    weight = tl.load(weight_ptr + member * SIZE + width, mask=is_number, other=0.0)
    bias = tl.load(bias_ptr + member * SIZE + width, mask=is_number, other=0.0)
    tl.store(y_ptr + place, centred * inverse[:, None] * weight[None, :] + bias[None, :], mask=inside)
    tl.store(statistics_ptr + (member * count + rows) * 2, mean, mask=is_row)
    tl.store(statistics_ptr + (member * count + rows) * 2 + 1, inverse, mask=is_row)


@triton.jit(do_not_specialize=["count", "tiles"])
def layer_norm_backward(
    x_ptr, weight_ptr, statistics_ptr, d_ptr, dx_ptr, sums_ptr, count, tiles,
    SIZE: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Gradients of `layer_norm` for `tiles` x `ROWS` vectors of one member; those of weight and bias as their sums."""
    member, part, width = tl.program_id(1).to(tl.int64), tl.program_id(0), tl.arange(0, WIDTH)
    is_number = width < SIZE
    weight = tl.load(weight_ptr + member * SIZE + width, mask=is_number, other=0.0)
    of_weight = tl.zeros([ROWS, WIDTH], tl.float32)
    of_bias = tl.zeros([ROWS, WIDTH], tl.float32)
    for tile in range(0, tiles):
        rows = (part * tiles + tile) * ROWS + tl.arange(0, ROWS)
        is_row = rows < count
        inside = is_row[:, None] & is_number[None, :]
        place = (member * count + rows)[:, None] * SIZE + width[None, :]
        x = tl.load(x_ptr + place, mask=inside, other=0.0)
        d = tl.load(d_ptr + place, mask=inside, other=0.0)
        mean = tl.load(statistics_ptr + (member * count + rows) * 2, mask=is_row, other=0.0)
        inverse = tl.load(statistics_ptr + (member * count + rows) * 2 + 1, mask=is_row, other=0.0)
        normal = tl.where(inside, (x - mean[:, None]) * inverse[:, None], 0.0)
        of_weight += d * normal
        of_bias += d
        scaled = d * weight[None, :]
        shared = tl.sum(scaled, 1) / SIZE
        along = tl.sum(scaled * normal, 1) / SIZE
        dx = (scaled - shared[:, None] - normal * along[:, None]) * inverse[:, None]
        tl.store(dx_ptr + place, dx, mask=inside)
    sums = sums_ptr + (member * tl.num_programs(0) + part) * 2 * SIZE + width
    tl.store(sums, tl.sum(of_weight, 0), mask=is_number)
    tl.store(sums + SIZE, tl.sum(of_bias, 0), mask=is_number)


@triton.jit(do_not_specialize=["count"])
def linear(
    x_ptr, weight_ptr, bias_ptr, y_ptr, count, inputs, outputs,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Multiplies `ROWS` of the `count` vectors of one member by `COLUMNS` rows of its weight, and adds its bias."""
    member = tl.program_id(2).to(tl.int64)
    columns = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    rows = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    is_row, is_column = rows < count, columns < outputs
    x_ptr += member * count * inputs
    weight_ptr += member * outputs * inputs
    y = tl.zeros([ROWS, COLUMNS], tl.float32)
    for first in range(0, inputs, DEPTH):
        depth = first + tl.arange(0, DEPTH)
        is_input = (depth < inputs)[None, :]
        x = tl.load(x_ptr + rows[:, None] * inputs + depth[None, :], mask=is_row[:, None] & is_input, other=0.0)
        place = weight_ptr + columns[:, None] * inputs + depth[None, :]
        weight = tl.load(place, mask=is_column[:, None] & is_input, other=0.0)
        y += _product(x, tl.trans(weight), PRECISION)
    y += tl.load(bias_ptr + member * outputs + columns, mask=is_column, other=0.0)[None, :]
    place = y_ptr + member * count * outputs + rows[:, None] * outputs + columns[None, :]
    tl.store(place, y, mask=is_row[:, None] & is_column[None, :])


@triton.jit(do_not_specialize=["count", "tiles"])
def linear_backward(
    x_ptr, d_ptr, dw_ptr, db_ptr, count, tiles, inputs, outputs,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Gradients of weight and bias of `linear` from `tiles` x `ROWS` vectors of one member: `COLUMNS` outputs, `DEPTH`
    inputs."""
    member, part = tl.program_id(2).to(tl.int64), tl.program_id(1)
    blocks = tl.cdiv(inputs, DEPTH)
    columns = (tl.program_id(0) // blocks) * COLUMNS + tl.arange(0, COLUMNS)
    depth = (tl.program_id(0) % blocks) * DEPTH + tl.arange(0, DEPTH)
    is_column, is_input = columns < outputs, depth < inputs
    x_ptr += member * count * inputs
    d_ptr += member * count * outputs
    dw = tl.zeros([COLUMNS, DEPTH], tl.float32)
    db = tl.zeros([ROWS, COLUMNS], tl.float32)
    for tile in range(0, tiles):
        rows = (part * tiles + tile) * ROWS + tl.arange(0, ROWS)
        is_row = (rows < count)[:, None]
        x = tl.load(x_ptr + rows[:, None] * inputs + depth[None, :], mask=is_row & is_input[None, :], other=0.0)
        d = tl.load(d_ptr + rows[:, None] * outputs + columns[None, :], mask=is_row & is_column[None, :], other=0.0)
        dw += _product(tl.trans(d), x, PRECISION)
        db += d
    at = member * tl.num_programs(1) + part
    place = dw_ptr + at * outputs * inputs + columns[:, None] * inputs + depth[None, :]
    tl.store(place, dw, mask=is_column[:, None] & is_input[None, :])
    if tl.program_id(0) % blocks == 0:
        tl.store(db_ptr + at * outputs + columns, tl.sum(db, 0), mask=is_column)
