// Kernels whose counts are known by hand.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

__global__ void vadd(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

__global__ void vectors(const float4* a, float4* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i];
}

__global__ void strided(const float* a, float* c, int stride) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i * stride];
}

template <int kPad>
__device__ void transpose(const float* a, float* c, int n, float (*tile)[32 + kPad]) {
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = a[y * n + x];
    __syncthreads();
    c[(blockIdx.x * 32 + threadIdx.y) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void transpose_plain(const float* a, float* c, int n) {
    __shared__ float tile[32][32];
    transpose<0>(a, c, n, tile);
}
__global__ void transpose_padded(const float* a, float* c, int n) {
    __shared__ float tile[32][33];
    transpose<1>(a, c, n, tile);
}

__global__ void product(const float* a, const float* b, float* c, int n) {
    __shared__ float as[16][16], bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// Ten rounds of a multiplication and an addition, an exponential, a division.
__global__ void rounds(const float* a, float* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    for (int k = 0; k < 10; k++) x = x * 0.5f + 1.0f;
    c[i] = expf(x) / 3.0f;
}

__global__ void halves(const __half2* a, __half2* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = __hfma2(a[i], a[i], a[i]);
}

__global__ void doubles(const double* a, double* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = fma(a[i], a[i], 1.0) + sqrt(a[i]);
}

// A quarter of each wave goes through a long branch.
__global__ void branch(const float* a, float* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    if (threadIdx.x % 4 == 0)
        for (int k = 0; k < 1000; k++) x = x * 0.5f + 1.0f;
    c[i] = x;
}

// Lane k makes k rounds: half of what the longest one makes.
__global__ void triangle(const float* a, float* c) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    for (unsigned k = 0; k < threadIdx.x % 64 * 100; k++) x = x * 0.5f + 1.0f;
    c[i] = x;
}

__global__ void one_counter(int* out) { atomicAdd(out, 1); }

__global__ void own_counters(int* out) { atomicAdd(out + blockIdx.x * blockDim.x + threadIdx.x, 1); }

__global__ void histogram(const int* bins, int* out, int n) {
    __shared__ int local[16];
    if (threadIdx.x < 16) local[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&local[bins[i]], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(out + threadIdx.x, local[threadIdx.x]);
}

typedef float float4_ __attribute__((ext_vector_type(4)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
__global__ void matrix(const _Float16* a, float* c) {
    half4 x = *reinterpret_cast<const half4*>(a + 4 * threadIdx.x);
    float4_ sum = {};
    sum = __builtin_amdgcn_mfma_f32_16x16x16f16(x, x, sum, 0, 0, 0);
    *reinterpret_cast<float4_*>(c + 4 * threadIdx.x) = sum;
}

// Each lane reads and writes 8 or 16 bytes of LDS next to those of its neighbours.
template <class T>
__device__ void neighbours(const T* a, T* c) {
    __shared__ T tile[64];
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    c[threadIdx.x] = tile[threadIdx.x];
}
__global__ void neighbours8(const float2* a, float2* c) { neighbours(a, c); }
__global__ void neighbours16(const float4* a, float4* c) { neighbours(a, c); }

// Each lane reads 16 bytes of LDS at the place that it is told.
__global__ void wide_reads(const int* places, float4* out) {
    __shared__ float4 tile[64];
    tile[threadIdx.x] = make_float4(0, 1, 2, 3);
    __syncthreads();
    out[threadIdx.x] = tile[places[threadIdx.x]];
}

// Blocks whose threads all add to a word of their own.
__global__ void counter_of_a_block(int* out) { atomicAdd(out + blockIdx.x, 1); }
