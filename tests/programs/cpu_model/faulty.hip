// One planted fault in each kernel.
#include <hip/hip_runtime.h>

__global__ void past_the_end(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = i;
}
__global__ void far_away(float* y, int n) { y[threadIdx.x + n + 100000] = 1; }
__global__ void before_the_start(const float* x, float* y) { y[threadIdx.x] = x[int(threadIdx.x) - 1]; }
__global__ void static_lds(float* y) {
    __shared__ float tile[64];
    __shared__ float other[64];
    other[threadIdx.x] = 0;
    tile[threadIdx.x + 1] = threadIdx.x;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x] + other[threadIdx.x];
}
__global__ void dynamic_lds(float* y) {
    extern __shared__ float tile[];
    tile[threadIdx.x] = 1;
    if (threadIdx.x == 63) tile[64] = 2;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}
__device__ int table[4];
__global__ void module_variable(int* y) { y[threadIdx.x] = table[threadIdx.x]; }
__global__ void missing_barrier(float* y) {
    __shared__ float tile[128];
    tile[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = tile[127 - threadIdx.x];
}
__global__ void missing_second_barrier(const float* x, float* y) {
    __shared__ float tile[128];
    float sum = 0;
    for (int k = 0; k < 2; k++) {
        tile[threadIdx.x] = x[k * 128 + threadIdx.x];
        __syncthreads();
        sum += tile[127 - threadIdx.x];
    }
    y[threadIdx.x] = sum;
}
__global__ void missing_second_barrier_of_halves(const float* x, float* y) {
    __shared__ _Float16 tile[128];
    float sum = 0;
    for (int k = 0; k < 2; k++) {
        tile[threadIdx.x] = x[k * 128 + threadIdx.x];
        __syncthreads();
        sum += tile[127 - threadIdx.x];
    }
    y[threadIdx.x] = sum;
}
__global__ void sum_not_started(const float* x, float* y) {
    float sum, line[4];
    for (int i = 0; i < 4; i++) line[i] += sum += x[i];
    y[threadIdx.x] = line[threadIdx.x % 4];
}
__global__ void lost_updates(float* y) { y[0] += threadIdx.x; }
__global__ void between_blocks(float* y) {
    if (threadIdx.x == 0) y[1] = blockIdx.x;
}
__global__ void unpublished(float* partial, unsigned* arrived, float* y) {  // no fence before the atomic
    if (threadIdx.x) return;
    partial[blockIdx.x] = blockIdx.x;
    if (atomicAdd(arrived, 1u) == gridDim.x - 1)
        for (unsigned i = 0; i < gridDim.x; i++) y[i] = partial[i];
}
__global__ void plain_and_atomic(int* y) {
    if (threadIdx.x == 1) atomicAdd(y, 1);
    if (threadIdx.x == 0) y[0] = 5;
}
__global__ void unwritten_lds(float* y) {
    __shared__ float tile[64];
    if (threadIdx.x < 32) tile[threadIdx.x] = 1;
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x];
}
__global__ void unwritten_output(const float* x, float* y) { y[threadIdx.x] += x[threadIdx.x]; }
__global__ void wrong_pointer(float* y) { y[threadIdx.x] = 1; }
__global__ void barrier_in_a_branch(float* y) {
    if (threadIdx.x < 32) __syncthreads();
    y[threadIdx.x] = 1;
}
__global__ void two_barriers(float* y) {
    if (threadIdx.x < 32) {
        __syncthreads();
        y[threadIdx.x] = 1;
    } else {
        y[threadIdx.x] = 2;
        __syncthreads();
    }
}
__global__ void odd_address(const char* x, float4* y) {
    float4 v = *reinterpret_cast<const float4*>(x + 2 + 16 * threadIdx.x);
    y[threadIdx.x] = make_float4(v.x + 1, v.y, v.z, v.w);
}
__global__ void asserts(int* y) { assert(y == nullptr); }
__global__ void forever(volatile int* y) {
    while (y[0] == 0) y[1] = y[1] + 1;
}
__global__ void endless(int* y) {
    while (true) asm volatile("");
}
__global__ void waits_for_a_block(int* flag, int* y) {
    if (blockIdx.x == 0)
        while (atomicAdd(flag, 0) == 0) {}
    else
        atomicExch(flag, 1);
    y[blockIdx.x] = 1;
}
__device__ __attribute__((noinline)) int descend(int n) {
    volatile int a[1000];
    a[n % 1000] = n;
    return n ? descend(n - 1) + a[n % 1000] : 0;
}
__global__ void deep(int* y, int n) { y[0] = descend(n); }  // more private memory than a thread has
