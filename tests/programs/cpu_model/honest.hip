// Kernels with known results; the checker must find nothing in any of them.
#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include <hip/hip_bf16.h>
#include <hip/hip_cooperative_groups.h>

#define INDEX int i = blockIdx.x * blockDim.x + threadIdx.x

__global__ void vadd(const float* a, const float* b, float* c, int n) {
    INDEX;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void matmul(const float* a, const float* b, float* c, int n) {
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        left[y][x] = a[row * n + k + x];
        right[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += left[y][j] * right[j][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

__global__ void softmax(const float* x, float* y, int n) {
    __shared__ float partial[4];
    int t = threadIdx.x, wave = t / 64, lane = t % 64;
    x += size_t(blockIdx.x) * n;
    y += size_t(blockIdx.x) * n;
    float most = -INFINITY;
    for (int i = t; i < n; i += blockDim.x) most = fmaxf(most, x[i]);
    for (int o = 32; o; o >>= 1) most = fmaxf(most, __shfl_xor(most, o));
    if (!lane) partial[wave] = most;
    __syncthreads();
    most = fmaxf(fmaxf(partial[0], partial[1]), fmaxf(partial[2], partial[3]));
    __syncthreads();
    float sum = 0;
    for (int i = t; i < n; i += blockDim.x) {
        float e = __expf(x[i] - most);
        y[i] = e;
        sum += e;
    }
    for (int o = 32; o; o >>= 1) sum += __shfl_down(sum, o);
    if (!lane) partial[wave] = sum;
    __syncthreads();
    sum = partial[0] + partial[1] + partial[2] + partial[3];
    for (int i = t; i < n; i += blockDim.x) y[i] /= sum;
}

// Every shape of argument.
struct View { float* data; int n; };
struct Big { const float* x; float* y; double scale; int n; char tag; };
struct Square { __device__ float operator()(float v) const { return v * v; } };
struct Affine { float m, b, c; };
__global__ void ten(const float* a, float* out, int n, float s, double t, bool flip, char k, short h, long long m, Affine f) {
    INDEX;
    if (i < n) out[i] = (flip ? -1.f : 1.f) * (a[i] * s + float(t)) + k + h + float(m) + f.m + f.b + f.c;
}
__global__ void view(View in, float4 add, View out) {
    INDEX;
    if (i < in.n) out.data[i] = in.data[i] + add.x + add.w;
}
__global__ void big(int extra, Big p) {
    INDEX;
    if (i < p.n) p.y[i] = float(p.x[i] * p.scale) + p.tag + extra;
}
template <class F> __global__ void apply(F f, const float* x, float* y, int n) {
    INDEX;
    if (i < n) y[i] = f(x[i]);
}
void make_instances() {  // never called: it instantiates
    apply<<<1, 1>>>(Square{}, nullptr, nullptr, 0);
}
__global__ void after_empty(Square f, const float* x, float* y) { y[threadIdx.x] = f(x[threadIdx.x]); }

void make_lambda() {
    float shift = 1.5f;
    apply<<<1, 1>>>([=] __device__(float v) { return v + shift; }, nullptr, nullptr, 0);
}

// Waves.
__global__ void diverging(unsigned long long* y) {
    int l = threadIdx.x;
    unsigned long long m = 0;
    for (int i = 0; i < l % 4; i++) m = m * 7 + __popcll(__ballot(1));
    y[l] = m * 1000 + __popcll(__ballot(l & 1));
}
__global__ void branches(int* y) {
    int l = threadIdx.x, v;
    if (l < 16) v = __shfl(l * 10, 3);
    else v = __shfl(l * 100, 20);
    y[l] = v + __shfl_up(v, 1, 8);
}
__global__ void branch_in_a_loop(int* y) {  // no lane begins the next round before the others are done with this one
    int l = threadIdx.x, v = 0;
    for (int i = 0; i < 3; i++) {
        v = v * 3 + __shfl_xor(l + i, 32);
        if (l % 4 == i) v += 1000 * __popcll(__ballot(1));
        for (int j = 0; j < l % 3; j++) v += __popcll(__ballot(1));
    }
    y[l] = v;
}
__global__ void one_value_after_another(int* y) {  // the loop in which AMD's headers look at masks
    int l = threadIdx.x, mine = l / 10 % 4, found = 0;
    bool done = false;
    while (__any(!done)) {
        if (!done) {
            int chosen = __builtin_amdgcn_readfirstlane(mine);
            if (mine == chosen) {
                found = __popcll(__ballot(1));
                done = true;
            }
        }
    }
    y[l] = found;
}
__global__ void votes_of_tiles(int* y) {
    auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    y[threadIdx.x] = tile.any(threadIdx.x % 32 == 20) * 100 + __popcll(tile.ballot(threadIdx.x & 1)) + tile.all(threadIdx.x < 64) * 1000;
}
__global__ void early_exit(int* y, int n) {
    if (int(threadIdx.x) >= n) return;
    y[threadIdx.x] = __popcll(__ballot(1));
}
__global__ void lockstep(float* y) {  // relies on `volatile` and the lockstep of a wave
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = 1;
    __syncthreads();
    if (t < 64) {
        volatile float* v = s;
        v[t] += v[t + 64]; v[t] += v[t + 32]; v[t] += v[t + 16]; v[t] += v[t + 8]; v[t] += v[t + 4]; v[t] += v[t + 2]; v[t] += v[t + 1];
    }
    if (t == 0) y[0] = s[0];
}
__global__ void wave_barrier(int* y) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __builtin_amdgcn_wave_barrier();
    y[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void synced(int* y) {  // the CUDA spellings
    int v = __shfl_xor_sync(0xffffffffffffffffull, int(threadIdx.x), 1);
    y[threadIdx.x] = v + (__any_sync(0xffffffffffffffffull, threadIdx.x == 5) ? 1000 : 0);
}
__global__ void dpp(int* y) {
    int l = threadIdx.x;
    y[l] = __builtin_amdgcn_update_dpp(-1, l, 0x111, 0xf, 0xf, false);                      // row_shr:1
    y[64 + l] = __builtin_amdgcn_mov_dpp(l, 0x1b, 0xf, 0xf, true);                          // quad_perm:[3,2,1,0]
    y[128 + l] = __builtin_amdgcn_ds_swizzle(l, 0x1f | 16 << 10);                           // swap halves of 32
    y[192 + l] = __builtin_amdgcn_readfirstlane(l + 7) + __builtin_amdgcn_readlane(l, 9) * 100;
}

// Blocks.
__global__ void reductions(int* y) {
    int t = threadIdx.x;
    int sum = __syncthreads_count(t % 3 == 0), any = __syncthreads_or(t == 77), all = __syncthreads_and(t < 99);
    if (t == 0) y[0] = sum, y[1] = any, y[2] = all;
}
__global__ void group(int* y) {
    auto block = cooperative_groups::this_thread_block();
    __shared__ int s[128];
    s[block.thread_rank()] = block.thread_rank();
    block.sync();
    y[block.thread_rank()] = s[block.size() - 1 - block.thread_rank()];
}
__global__ void tiles(int* y) {
    auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    int sum = threadIdx.x;
    for (int o = 8; o; o >>= 1) sum += tile.shfl_xor(sum, o);
    y[threadIdx.x] = sum;
}
__global__ void direct_to_lds(float* x, float* y) {
    __shared__ float s[64];
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)(x + threadIdx.x),
                                     (__attribute__((address_space(3))) void*)s, 4, 0, 0);
    __syncthreads();
    y[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void reverse(const float* x, float* y) {
    extern __shared__ float tile[];
    INDEX;
    tile[threadIdx.x] = x[i];
    __syncthreads();
    y[i] = tile[blockDim.x - 1 - threadIdx.x];
}
__global__ void leave_before_barrier(const float* x, float* y, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    if (t >= n) return;
    s[t] = x[t];
    __syncthreads();
    y[t] = s[n - 1 - t];
}
__global__ void barrier_of_each_wave(float* y) {  // waves wait in code of their own
    __shared__ float s[128];
    int t = threadIdx.x;
    if (t < 64) {
        s[t] = 1;
        __syncthreads();
    } else {
        s[t] = 2;
        __syncthreads();
    }
    y[t] = s[127 - t];
}

// Atomics.
__device__ int counter;
__global__ void atomics(int* y, float* f, unsigned* u, double* d) {
    int t = threadIdx.x;
    atomicAdd(y, 1);
    atomicMax(y + 1, t);
    atomicMin(y + 2, t);
    atomicAdd(f, 0.5f);
    atomicMax(f + 1, float(t));
    atomicAdd(d, 0.25);
    atomicInc(u, 9);
    atomicCAS(y + 3, 0, 42);
    unsafeAtomicAdd(f + 2, 2.f);
    atomicOr(u + 1, 1u << t % 32);
    __shared__ int s;
    if (t == 0) s = 0;
    __syncthreads();
    atomicAdd(&s, t);
    __syncthreads();
    if (t == 0) atomicExch(y + 4, s);
}
__device__ float double_checked(float* address, float value) {  // the loop of the CUDA manual, with its plain read
    int* bits = reinterpret_cast<int*>(address);
    int old = *bits, assumed;
    do {
        assumed = old;
        old = atomicCAS(bits, assumed, __float_as_int(value + __int_as_float(assumed)));
    } while (assumed != old);
    return __int_as_float(old);
}
__global__ void cas_loop(float* y) { double_checked(y, 1.f); }
// The last block to arrive sums what the others published.
__global__ void last_block(const float* x, float* partial, unsigned* arrived, float* y) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < 64; i++) sum += x[blockIdx.x * 64 + i];
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (unsigned i = 0; i < gridDim.x; i++) sum += partial[i];
        y[0] = sum;
    }
}
__global__ void same_value(int* y) { y[0] = 7; }  // all threads, the same value: harmless

// Module variables.
__constant__ float coefficients[4];
__device__ float table[3] = {1, 2, 3};
static __device__ int calls;
__global__ void variables(float* y) {
    int t = threadIdx.x;
    if (t == 0) {
        calls++;
        y[0] = coefficients[2] + table[1] + calls;
    }
}

// Types.
struct Padded { char c; int i; short s; };
__global__ void copy_structs(const Padded* x, Padded* y) {
    __shared__ Padded s[64];
    s[threadIdx.x].c = x[threadIdx.x].c;
    s[threadIdx.x].i = x[threadIdx.x].i;
    s[threadIdx.x].s = x[threadIdx.x].s;
    __syncthreads();
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void halves(const __half* a, const __half* b, __half* c, int n) {
    INDEX;
    const __half2 *a2 = reinterpret_cast<const __half2*>(a), *b2 = reinterpret_cast<const __half2*>(b);
    if (i < n / 2) reinterpret_cast<__half2*>(c)[i] = __hadd2(__hmul2(a2[i], b2[i]), __half2half2(__float2half(1.f)));
}
__global__ void half_tile(const __half* a, __half* c) {  // neighbours write the two halves of a word
    __shared__ __half s[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    c[threadIdx.x] = hexp(s[127 - threadIdx.x]);
}
// Threads change values in place that share a word, some behind operations of their wave.
template <class T> __device__ void change_in_place(T* y, int from) {
    int i = from + threadIdx.x;
    y[i] = T(y[i] + T(1));
    T first = y[i];
    int sum = __shfl_xor(int(threadIdx.x), 1);
    y[i] = T(first + T(sum >= 0));
}
__global__ void halves_in_place(__half* y) { change_in_place(y, 1); }
__global__ void bytes_in_place(signed char* y) { change_in_place(y, 3); }
__global__ void bfloats(const __hip_bfloat16* a, __hip_bfloat16* c) {
    c[threadIdx.x] = __float2bfloat16(__bfloat162float(a[threadIdx.x]) * 3.f);
}
__global__ void vectors(const float4* a, float4* c, int n) {
    INDEX;
    if (i < n) {
        float4 v = a[i];
        c[i] = make_float4(v.w, v.z, v.y, v.x);
    }
}
typedef float f32x16 __attribute__((ext_vector_type(16)));
__global__ void wide(const f32x16* a, f32x16* c) { c[threadIdx.x] = a[threadIdx.x] * 2.f; }
__global__ void mathematics(const float* x, float* y) {
    float v = x[threadIdx.x];
    y[threadIdx.x] = tanhf(v) + erff(v) + rsqrtf(v * v + 1) + log1pf(fabsf(v)) + powf(fabsf(v), 1.5f) + sinf(v) + __frcp_rn(v * v + 2) +
                     exp2f(v) + fmodf(v, 0.7f) + normcdff(v) + float(erfinv(double(v) / 4));
}

// Matrix instructions.
typedef _Float16 f16x4 __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
__global__ void mfma16(const _Float16* a, const _Float16* b, float* c, int n) {  // c = a b^T
    int l = threadIdx.x, r = l % 16, g = l / 16, m0 = blockIdx.y * 16, n0 = blockIdx.x * 16;
    f32x4 sum = {0, 0, 0, 0};
    for (int k = 0; k < n; k += 16)
        sum = __builtin_amdgcn_mfma_f32_16x16x16f16(*(const f16x4*)(a + (m0 + r) * n + k + 4 * g),
                                                    *(const f16x4*)(b + (n0 + r) * n + k + 4 * g), sum, 0, 0, 0);
    for (int i = 0; i < 4; i++) c[(m0 + 4 * g + i) * n + n0 + r] = sum[i];
}
__global__ void mfma32(const float* a, const float* b, float* c, int n) {
    int l = threadIdx.x, r = l % 32, g = l / 32;
    f32x16 sum = {};
    for (int k = 0; k < n; k += 2) sum = __builtin_amdgcn_mfma_f32_32x32x2f32(a[r * n + k + g], b[r * n + k + g], sum, 0, 0, 0);
    for (int i = 0; i < 16; i++) c[(8 * (i / 4) + 4 * g + i % 4) * 32 + r] = sum[i];
}

// What is read and thrown away.
__global__ void ragged(const float* x, float* y, int n) {  // the tile's last rows are nobody's
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < n) s[t] = x[t];
    __syncthreads();
    float v = s[t] * 2;
    if (t < n) y[t] = v;
}
__global__ void fenced(int* y) {  // a fence is where the lanes of a wave meet
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    __threadfence_block();
    y[threadIdx.x] = s[63 - threadIdx.x];
}
static __global__ void is_static(int* y) { y[threadIdx.x] = 3; }
namespace {
__global__ void is_anonymous(int* y) { y[threadIdx.x] = 4; }
}
void make_static() {
    is_static<<<1, 1>>>(nullptr);
    is_anonymous<<<1, 1>>>(nullptr);
}

// What prints or asserts.
__global__ void talks(int* y) {
    if (threadIdx.x == 0) printf("hello %d\n", 3);
    assert(y != nullptr);
    y[threadIdx.x] = 1;
}
