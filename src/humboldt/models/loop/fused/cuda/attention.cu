// Multi-head attention of all examples of all members: one block per (member, example, head) or, forward, for every 128 queries
// of one. No score ever leaves the chip.
//
//   score(i, j) = (q_i . k_j) / sqrt(size) - slope_h (|i - j| - (i > j) / 2)
//
// and with RELATIVE  ((q_i + u) . k_j + (q_i + v) . t(i - j)) / sqrt(size), where t is a row of a table of all distances.
//
// A warp has 16 queries (a "strip") and goes through the keys in chunks of 32. Products are those of the tensor cores, 16 x 8 x 8,
// whose factors are rounded like TF32; sums, exponentials and everything that is not a product are in single precision.
// A product's sums are in the layout "C": thread (row g, pair t) of a warp has rows g and g + 8, columns 2 t and 2 t + 1 of 8.
// As first factor of the next product, they may stay where they are, since it does not matter in which order products are added
// up: what the instruction takes for columns t and t + 4 are columns 2 t and 2 t + 1, and rows of the second factor likewise.
//
// Distances: for a strip and a chunk, the products with the 47 distances that they have are 16 x 48 numbers; number (a, x) belongs
// to key b = x - 15 + a of the chunk. They go through shared memory to the thread that has the score.
//
// Macros: HEAD (8, 16, 32, 64; smaller heads are padded with zeros), RELATIVE, BACKWARD (instead of forward).
#include <instructions.cuh>
#include <products.cuh>

constexpr int D = HEAD, ROW = D + 4;  // numbers of a row in shared memory: so eight rows lie in different banks
constexpr int STEPS = D / 8, STRIP = 16, CHUNK = 32;
[[maybe_unused]] constexpr int MOST = 128;  // queries of a block, and keys in shared memory
// Rows of notes about a strip or a chunk; those of `weights` are also used for the numbers of all distances.
[[maybe_unused]] constexpr int PAIRS = 48, NOTE = CHUNK + 4;
#ifdef RELATIVE
constexpr int SCRATCH = PAIRS + 4;
#else
[[maybe_unused]] constexpr int SCRATCH = NOTE;
#endif
constexpr float LOG2E = 1.4426950408889634f, NOTHING = -INFINITY;

struct AttentionSizes {
  int examples, heads, queries, keys, size;
  int mask_of_member, mask_of_example;  // rows of the mask from one to the next: 0 where they share it
  int alibi;
};

__device__ __forceinline__ float rounded(float x) { return __uint_as_float(to_tf32(x)); }
__device__ __forceinline__ uint32_t bits(const float* p) { return __float_as_uint(*p); }

struct Place {
  int warp, g, t, warps, head, example, member, tile, block;  // `block`: of (member, example), and `tile` of its queries
  int stride;                                                 // from one row of queries, keys or values to the next
  __device__ __forceinline__ Place(const AttentionSizes& s, int tiles) {
    warp = threadIdx.x >> 5; g = (threadIdx.x & 31) >> 2; t = threadIdx.x & 3; warps = blockDim.x >> 5;
    int i = blockIdx.x;
    head = i % s.heads; i /= s.heads;
    tile = i % tiles; i /= tiles;
    block = i; example = i % s.examples; member = i / s.examples;
    stride = s.heads * s.size;
  }
  // Where this head's numbers of an array [member][example][row][head][size] begin.
  __device__ __forceinline__ size_t at(int rows, const AttentionSizes& s) const { return (size_t)block * rows * stride + head * s.size; }
};

// Rows `first`, ... of `count` rows into shared memory, rounded; zeros where there are none. `bias` is added to each row.
__device__ __forceinline__ void stage(const AttentionSizes& s, const Place& p, const float* from, float* to, int rows, int first, int count, const float* bias) {
  for (int i = threadIdx.x; i < rows * (D / 4); i += blockDim.x) {
    const int row = i / (D / 4), d = 4 * (i % (D / 4)), n = first + row;
    float4 x = make_float4(0.f, 0.f, 0.f, 0.f);
    if (n >= 0 && n < count && d < s.size) {
      x = *(const float4*)(from + (size_t)n * p.stride + d);
      if (bias) {
        const float4 b = *(const float4*)(bias + d);
        x = make_float4(x.x + b.x, x.y + b.y, x.z + b.z, x.w + b.w);
      }
    }
    *(float4*)(to + row * ROW + d) = make_float4(rounded(x.x), rounded(x.y), rounded(x.z), rounded(x.w));
  }
}
// A strip of rows in shared memory as first factor; `from` points to its first row.
__device__ __forceinline__ void fragments(const Place& p, const float* from, uint32_t (&a)[STEPS][4]) {
#pragma unroll
  for (int k = 0; k < STEPS; k++) {
    const float* x = from + p.g * ROW + 8 * k + p.t;
    a[k][0] = bits(x); a[k][1] = bits(x + 8 * ROW); a[k][2] = bits(x + 4); a[k][3] = bits(x + 8 * ROW + 4);
  }
}
// Adds the products of a strip with eight rows in shared memory: one number for every pair of rows.
__device__ __forceinline__ void by_rows(const Place& p, float (&c)[4], const uint32_t (&a)[STEPS][4], const float* rows) {
#pragma unroll
  for (int k = 0; k < STEPS; k++) {
    const float* x = rows + p.g * ROW + 8 * k + p.t;
    tf32_product(c, a[k], bits(x), bits(x + 4));
  }
}
// Adds 16 x 8 numbers times eight rows in shared memory. Columns t and t + 4 of the first factor are for rows 2 t and 2 t + 1.
__device__ __forceinline__ void times_rows(const Place& p, float (&c)[STEPS][4], const uint32_t (&a)[4], const float* rows) {
  const float* x = rows + 2 * p.t * ROW + p.g;
#pragma unroll
  for (int n = 0; n < STEPS; n++) tf32_product(c[n], a, bits(x + 8 * n), bits(x + ROW + 8 * n));
}
// Rounded numbers in layout C as first factor.
__device__ __forceinline__ void as_factor(const float (&c)[4], uint32_t (&a)[4]) {
  a[0] = bits(c); a[1] = bits(c + 2); a[2] = bits(c + 1); a[3] = bits(c + 3);
}
template <int N> __device__ __forceinline__ void clear(float (&c)[N][4]) {
#pragma unroll
  for (int i = 0; i < N; i++)
#pragma unroll
    for (int e = 0; e < 4; e++) c[i][e] = 0.f;
}
// Scores of a strip and a chunk, with ALiBi and in binary digits: exp2 makes weights of them. Hidden ones are minus infinity.
// `distance`: query minus key of the first of both; `words`: which keys the thread's two queries see.
__device__ __forceinline__ void finish(const AttentionSizes& s, const Place& p, float (&c)[4][4], const uint32_t (&words)[2], int distance, float scale, float slope) {
#pragma unroll
  for (int n = 0; n < 4; n++)
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int column = 8 * n + 2 * p.t + (e & 1), row = p.g + 8 * (e >> 1);
      float x = c[n][e] * scale;
      if (s.alibi) {
        const int apart = distance + row - column;
        x -= slope * (apart > 0 ? (float)apart - 0.5f : (float)-apart);
      }
      c[n][e] = words[e >> 1] >> column & 1 ? x : NOTHING;
    }
}
#ifdef RELATIVE
// Adds what distances add to scores. `rows`: those of the table for a strip and a chunk, the first one for x = 0.
__device__ __forceinline__ void by_distance(const Place& p, float (&c)[4][4], const uint32_t (&a)[STEPS][4], const float* rows, float* scratch) {
#pragma unroll
  for (int x = 0; x < PAIRS / 8; x++) {
    float d[4] = {0.f, 0.f, 0.f, 0.f};
    by_rows(p, d, a, rows + 8 * x * ROW);
    float* to = scratch + p.g * SCRATCH + 8 * x + 2 * p.t;
    *(float2*)to = make_float2(d[0], d[1]);
    *(float2*)(to + 8 * SCRATCH) = make_float2(d[2], d[3]);
  }
  __syncwarp();
#pragma unroll
  for (int n = 0; n < 4; n++)
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int row = p.g + 8 * (e >> 1);
      c[n][e] += scratch[row * SCRATCH + 8 * n + 2 * p.t + (e & 1) + 15 - row];
    }
  __syncwarp();
}
#endif

// q [m][e][query][head][size]; k, v [m][e][key][head][size]; mask [m or 1][e or 1][query][(keys + 31) / 32], a bit for each key
// numbers: 1 / sqrt(size), slopes [head]; table [m][queries + keys - 1][head][size], row r for key - query = r - (queries - 1); u, v [m][head][size]
// out as q; lse [m][e][head][query]: log2 of the sum of exp2 of scores
#ifndef BACKWARD
extern "C" __global__ void __launch_bounds__(256) attention_forward(
    const AttentionSizes* sizes, const float* __restrict__ numbers, const uint32_t* __restrict__ mask, const float* __restrict__ q,
    const float* __restrict__ k, const float* __restrict__ v,
#ifdef RELATIVE
    const float* __restrict__ table, const float* __restrict__ by_content, const float* __restrict__ by_place,
#endif
    float* __restrict__ out, float* __restrict__ lse) {
  SHARED_MEMORY(memory);
  const AttentionSizes s = *sizes;
  const Place p(s, (s.queries + MOST - 1) / MOST);
  const int width = (s.keys + 31) / 32, most_keys = min(MOST, 32 * width);
  const int first = p.tile * MOST + STRIP * p.warp;  // query of this warp's strip
  const float scale = numbers[0] * LOG2E, slope = numbers[1 + p.head] * LOG2E;
  float *keys = (float*)memory, *values = keys + most_keys * ROW;
  q += p.at(s.queries, s); k += p.at(s.keys, s); v += p.at(s.keys, s); out += p.at(s.queries, s);
  mask += ((size_t)p.member * s.mask_of_member + (size_t)p.example * s.mask_of_example) * width;
  lse += ((size_t)p.block * s.heads + p.head) * s.queries;

  uint32_t a[STEPS][4];
#ifdef RELATIVE
  uint32_t b[STEPS][4];
  const int of_head = p.member * p.stride + p.head * s.size, distances = s.queries + s.keys - 1, most_queries = STRIP * p.warps;
  float *rows = values + most_keys * ROW, *scratch = rows + (most_keys + most_queries) * ROW + p.warp * STRIP * SCRATCH;
  table += (size_t)p.member * distances * p.stride + p.head * s.size; by_content += of_head; by_place += of_head;
#endif
#pragma unroll
  for (int n = 0; n < STEPS; n++)
#pragma unroll
    for (int e = 0; e < 4; e++) {
      const int i = first + p.g + 8 * (e & 1), d = 8 * n + p.t + 4 * (e >> 1);
      const bool is_there = i < s.queries && d < s.size;
      const float x = is_there ? q[(size_t)i * p.stride + d] : 0.f;
#ifdef RELATIVE
      a[n][e] = to_tf32(is_there ? x + by_content[d] : 0.f);
      b[n][e] = to_tf32(is_there ? x + by_place[d] : 0.f);
#else
      a[n][e] = to_tf32(x);
#endif
    }

  float o[STEPS][4], largest[2] = {NOTHING, NOTHING}, sum[2] = {0.f, 0.f};
  clear(o);
  for (int begin = 0; begin < s.keys; begin += MOST) {
    __syncthreads();
    stage(s, p, k, keys, most_keys, begin, s.keys, nullptr);
    stage(s, p, v, values, most_keys, begin, s.keys, nullptr);
#ifdef RELATIVE
    // The row for key `begin` + j and query p.tile * MOST + i is at j + most_queries - 1 - i.
    stage(s, p, table, rows, most_keys + most_queries, begin - p.tile * MOST + s.queries - most_queries, distances, nullptr);
#endif
    __syncthreads();
    for (int j = 0; j < most_keys && begin + j < s.keys; j += CHUNK) {
      uint32_t words[2];
#pragma unroll
      for (int r = 0; r < 2; r++) {
        const int i = first + p.g + 8 * r;
        words[r] = i < s.queries ? mask[(size_t)i * width + (begin + j) / CHUNK] : 0;
      }
      if (!__any_sync(~0u, (words[0] | words[1]) != 0)) continue;
      float c[4][4];
      clear(c);
#pragma unroll
      for (int n = 0; n < 4; n++) by_rows(p, c[n], a, keys + (j + 8 * n) * ROW);
#ifdef RELATIVE
      by_distance(p, c, b, rows + (j + most_queries - STRIP - STRIP * p.warp) * ROW, scratch);
#endif
      finish(s, p, c, words, first - begin - j, scale, slope);
#pragma unroll
      for (int r = 0; r < 2; r++) {
        float most = largest[r];
#pragma unroll
        for (int n = 0; n < 4; n++) most = fmaxf(most, fmaxf(c[n][2 * r], c[n][2 * r + 1]));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 1));
        most = fmaxf(most, __shfl_xor_sync(~0u, most, 2));
        const float origin = most == NOTHING ? 0.f : most, factor = exp2f(largest[r] - origin);
        largest[r] = most;
        sum[r] *= factor;
#pragma unroll
        for (int n = 0; n < STEPS; n++) { o[n][2 * r] *= factor; o[n][2 * r + 1] *= factor; }
#pragma unroll
        for (int n = 0; n < 4; n++)
#pragma unroll
          for (int e = 2 * r; e < 2 * r + 2; e++) {
            c[n][e] = rounded(exp2f(c[n][e] - origin));  // so that weights still sum to one
            sum[r] += c[n][e];
          }
      }
#pragma unroll
      for (int n = 0; n < 4; n++) {
        uint32_t weights[4];
        as_factor(c[n], weights);
        times_rows(p, o, weights, values + (j + 8 * n) * ROW);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < 2; r++) {
    const int i = first + p.g + 8 * r;
    sum[r] += __shfl_xor_sync(~0u, sum[r], 1);
    sum[r] += __shfl_xor_sync(~0u, sum[r], 2);
    const bool sees_nothing = largest[r] == NOTHING && sum[r] == 0.f;
    const float factor = sees_nothing ? 0.f : 1.f / sum[r];
    if (i < s.queries) {
#pragma unroll
      for (int n = 0; n < STEPS; n++)
        if (8 * n < s.size) *(float2*)(out + (size_t)i * p.stride + 8 * n + 2 * p.t) = make_float2(o[n][2 * r] * factor, o[n][2 * r + 1] * factor);
      if (p.t == 0) lse[i] = sees_nothing ? 0.f : largest[r] + log2f(sum[r]);
    }
  }
}

#else
// d_out as q; d_q, d_k, d_v as q, k, v; sums over the queries of an example: d_table [m][e][queries + keys - 1][head][size],
// d_content, d_place [m][e][head][size]. At most MOST queries and keys.
extern "C" __global__ void __launch_bounds__(256) attention_backward(
    const AttentionSizes* sizes, const float* __restrict__ numbers, const uint32_t* __restrict__ mask, const float* __restrict__ q,
    const float* __restrict__ k, const float* __restrict__ v,
#ifdef RELATIVE
    const float* __restrict__ table, const float* __restrict__ by_content, const float* __restrict__ by_place,
#endif
    const float* __restrict__ out, const float* __restrict__ lse, const float* __restrict__ d_out, float* __restrict__ d_q,
    float* __restrict__ d_k, float* __restrict__ d_v
#ifdef RELATIVE
    , float* __restrict__ d_table, float* __restrict__ d_content, float* __restrict__ d_place
#endif
) {
  SHARED_MEMORY(memory);
  const AttentionSizes s = *sizes;
  const Place p(s, 1);
  const int width = (s.keys + 31) / 32, most_keys = 32 * width, most_queries = STRIP * p.warps, first = STRIP * p.warp;
  const float scale = numbers[0], slope = numbers[1 + p.head] * LOG2E;
  // `weights` and `gradients`: of the scores of all queries and a chunk of keys.
  float *keys = (float*)memory, *values = keys + most_keys * ROW, *queries = values + most_keys * ROW, *targets = queries + most_queries * ROW;
  float *weights = targets + most_queries * ROW, *gradients = weights + most_queries * SCRATCH;
  q += p.at(s.queries, s); k += p.at(s.keys, s); v += p.at(s.keys, s); out += p.at(s.queries, s); d_out += p.at(s.queries, s);
  d_q += p.at(s.queries, s); d_k += p.at(s.keys, s); d_v += p.at(s.keys, s);
  mask += ((size_t)p.member * s.mask_of_member + (size_t)p.example * s.mask_of_example) * width;
  lse += ((size_t)p.block * s.heads + p.head) * s.queries;

  const float* u = nullptr;
#ifdef RELATIVE
  const int of_head = p.member * p.stride + p.head * s.size, distances = s.queries + s.keys - 1, all_rows = most_keys + most_queries;
  float *placed = gradients + most_queries * NOTE, *rows = placed + most_queries * ROW, *d_rows = rows + all_rows * ROW;
  table += (size_t)p.member * distances * p.stride + p.head * s.size;
  u = by_content + of_head;
  stage(s, p, q, placed, most_queries, 0, s.queries, by_place + of_head);
  stage(s, p, table, rows, all_rows, s.queries - most_queries, distances, nullptr);
  for (int i = threadIdx.x; i < all_rows * ROW; i += blockDim.x) d_rows[i] = 0.f;
#endif
  stage(s, p, q, queries, most_queries, 0, s.queries, u);
  stage(s, p, d_out, targets, most_queries, 0, s.queries, nullptr);
  stage(s, p, k, keys, most_keys, 0, s.keys, nullptr);
  stage(s, p, v, values, most_keys, 0, s.keys, nullptr);
  __syncthreads();

  uint32_t a[STEPS][4], t[STEPS][4];
  fragments(p, queries + first * ROW, a);
  fragments(p, targets + first * ROW, t);
  float d[STEPS][4];
  clear(d);
#ifdef RELATIVE
  uint32_t b[STEPS][4];
  fragments(p, placed + first * ROW, b);
  float d_far[STEPS][4];
  clear(d_far);
#endif
  // What all gradients of a query's weights lose: the sum of weights times gradients. From rounded gradients of outputs, so that
  // nothing is left where a query sees one key.
  float of_all[2] = {0.f, 0.f}, total[2];
#pragma unroll
  for (int r = 0; r < 2; r++) {
    const int i = first + p.g + 8 * r;
    if (i < s.queries)
      for (int n = p.t; n < s.size; n += 4) of_all[r] += out[(size_t)i * p.stride + n] * targets[i * ROW + n];
    of_all[r] += __shfl_xor_sync(~0u, of_all[r], 1);
    of_all[r] += __shfl_xor_sync(~0u, of_all[r], 2);
    total[r] = i < s.queries ? lse[i] : 0.f;
  }

  for (int j = 0; j < most_keys; j += CHUNK) {
    uint32_t words[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
      const int i = first + p.g + 8 * r;
      words[r] = i < s.queries ? mask[(size_t)i * width + j / CHUNK] : 0;
    }
    const bool sees = __any_sync(~0u, (words[0] | words[1]) != 0);
    float c[4][4], e[4][4];
    clear(c);
    clear(e);
#ifdef RELATIVE
    const float* near = rows + (j + most_queries - STRIP - first) * ROW;
#endif
    if (sees) {
#pragma unroll
      for (int n = 0; n < 4; n++) {
        by_rows(p, c[n], a, keys + (j + 8 * n) * ROW);
        by_rows(p, e[n], t, values + (j + 8 * n) * ROW);
      }
#ifdef RELATIVE
      by_distance(p, c, b, near, weights + first * SCRATCH);
#endif
      finish(s, p, c, words, first - j, scale * LOG2E, slope);
#pragma unroll
      for (int n = 0; n < 4; n++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const bool is_seen = c[n][i] != NOTHING;
          const float weight = exp2f(c[n][i] - total[i >> 1]);
          c[n][i] = rounded(weight);
          e[n][i] = is_seen ? rounded(weight * (e[n][i] - of_all[i >> 1]) * scale) : 0.f;
        }
    }
#pragma unroll
    for (int n = 0; n < 4; n++)
#pragma unroll
      for (int r = 0; r < 2; r++) {
        const int i = first + p.g + 8 * r, column = 8 * n + 2 * p.t;
        *(float2*)(weights + i * SCRATCH + column) = make_float2(c[n][2 * r], c[n][2 * r + 1]);
        *(float2*)(gradients + i * NOTE + column) = make_float2(e[n][2 * r], e[n][2 * r + 1]);
      }
    if (sees) {
#pragma unroll
      for (int n = 0; n < 4; n++) {
        uint32_t factor[4];
        as_factor(e[n], factor);
        times_rows(p, d, factor, keys + (j + 8 * n) * ROW);
      }
#ifdef RELATIVE
      __syncwarp();
#pragma unroll
      for (int x = 0; x < PAIRS; x += 8) {
        uint32_t factor[4];
#pragma unroll
        for (int i = 0; i < 4; i++) {
          const int row = p.g + 8 * (i & 1), column = x + 2 * p.t + (i >> 1) - 15 + row;
          factor[i] = column >= 0 && column < CHUNK ? bits(gradients + (first + row) * NOTE + column) : 0;
        }
        times_rows(p, d_far, factor, near + x * ROW);
      }
#endif
    }
    __syncthreads();

    // Sums over all queries: values and keys of the chunk, 16 of them a warp.
    for (int job = p.warp; job < 4; job += p.warps) {
      const bool is_key = job >> 1;
      const int half = 16 * (job & 1), pitch = is_key ? NOTE : SCRATCH;
      const float *from = (is_key ? gradients : weights) + half + p.g, *others = is_key ? queries : targets;
      float sums[STEPS][4];
      clear(sums);
      for (int i = 0; i < most_queries; i += 8) {
        const float* x = from + (i + 2 * p.t) * pitch;
        const uint32_t factor[4] = {bits(x), bits(x + 8), bits(x + pitch), bits(x + pitch + 8)};
        times_rows(p, sums, factor, others + i * ROW);
      }
      float* to = is_key ? d_k : d_v;
#pragma unroll
      for (int r = 0; r < 2; r++) {
        const int row = j + half + p.g + 8 * r;
#pragma unroll
        for (int n = 0; n < STEPS; n++)
          if (row < s.keys && 8 * n < s.size) *(float2*)(to + (size_t)row * p.stride + 8 * n + 2 * p.t) = make_float2(sums[n][2 * r], sums[n][2 * r + 1]);
      }
    }
#ifdef RELATIVE
    // The table's rows, 16 of them a warp, always the same one. Row x is for key x - (most_queries - 1) + i and query i.
    for (int x = j; x < j + CHUNK + most_queries; x += STRIP) {
      if (x / STRIP % p.warps != p.warp) continue;
      const int begin = j + most_queries - STRIP - x;  // of the queries that have such a key in the chunk
      float sums[STEPS][4];
      clear(sums);
      for (int i = max(0, begin); i < min(most_queries, begin + CHUNK + STRIP); i += 8) {
        uint32_t factor[4];
#pragma unroll
        for (int e = 0; e < 4; e++) {
          const int query = i + 2 * p.t + (e >> 1), column = x + p.g + 8 * (e & 1) - (most_queries - 1) + query - j;
          factor[e] = column >= 0 && column < CHUNK ? bits(gradients + query * NOTE + column) : 0;
        }
        times_rows(p, sums, factor, placed + i * ROW);
      }
#pragma unroll
      for (int n = 0; n < STEPS; n++)
#pragma unroll
        for (int e = 0; e < 4; e++) d_rows[(x + p.g + 8 * (e >> 1)) * ROW + 8 * n + 2 * p.t + (e & 1)] += sums[n][e];
    }
#endif
    __syncthreads();
  }

#pragma unroll
  for (int r = 0; r < 2; r++) {
    const int i = first + p.g + 8 * r;
#pragma unroll
    for (int n = 0; n < STEPS; n++) {
      float2 x = make_float2(d[n][2 * r], d[n][2 * r + 1]);
#ifdef RELATIVE
      x = make_float2(x.x + d_far[n][2 * r], x.y + d_far[n][2 * r + 1]);
#endif
      if (i < s.queries && 8 * n < s.size) *(float2*)(d_q + (size_t)i * p.stride + 8 * n + 2 * p.t) = x;
    }
  }
#ifdef RELATIVE
  // Sums over queries: of a strip by its warp, then of all strips.
#pragma unroll
  for (int n = 0; n < STEPS; n++)
#pragma unroll
    for (int e = 0; e < 2; e++) {
      float near = d[n][e] + d[n][2 + e], far = d_far[n][e] + d_far[n][2 + e];
#pragma unroll
      for (int lane = 4; lane < 32; lane *= 2) {
        near += __shfl_xor_sync(~0u, near, lane);
        far += __shfl_xor_sync(~0u, far, lane);
      }
      if (p.g == 0) {
        weights[2 * p.warp * D + 8 * n + 2 * p.t + e] = near;
        weights[(2 * p.warp + 1) * D + 8 * n + 2 * p.t + e] = far;
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < 2 * D; i += blockDim.x) {
    float sum = 0.f;
    for (int w = 0; w < p.warps; w++) sum += weights[2 * w * D + i];
    if (i % D < s.size) (i < D ? d_content : d_place)[(size_t)p.block * p.stride + p.head * s.size + i % D] = sum;
  }
  d_table += (size_t)p.block * distances * p.stride + p.head * s.size;
  for (int i = threadIdx.x; i < distances * (D / 4); i += blockDim.x) {
    const int row = i / (D / 4), n = 4 * (i % (D / 4));
    if (n < s.size) *(float4*)(d_table + (size_t)row * p.stride + n) = *(const float4*)(d_rows + (row + most_queries - s.queries) * ROW + n);
  }
#endif
}
#endif
