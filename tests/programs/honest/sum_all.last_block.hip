// One kernel: the last block that arrives adds up what the others left; wave-wide sums through DPP.
#include <hip/hip_runtime.h>

__device__ unsigned int retirement_count = 0;

__device__ __forceinline__ float dpp_add(float v, int) { return v; }

template <int ctrl> __device__ __forceinline__ float dpp_move(float v) {
    return __int_as_float(__builtin_amdgcn_update_dpp(0, __float_as_int(v), ctrl, 0xf, 0xf, true));
}

__device__ float wave_sum(float v) {
    v += dpp_move<0x111>(v);  // row_shr:1
    v += dpp_move<0x112>(v);  // row_shr:2
    v += dpp_move<0x114>(v);  // row_shr:4
    v += dpp_move<0x118>(v);  // row_shr:8
    v += dpp_move<0x142>(v);  // row_bcast:15
    v += dpp_move<0x143>(v);  // row_bcast:31
    return __int_as_float(__builtin_amdgcn_readlane(__float_as_int(v), 63));
}

__global__ void single_pass(const float* x, float* partial, float* out, int n) {
    __shared__ float lds[4];
    __shared__ bool am_last;
    float v = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) v += x[i];
    v = wave_sum(v);
    if (threadIdx.x % 64 == 0) lds[threadIdx.x / 64] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = lds[0] + lds[1] + lds[2] + lds[3];
        __threadfence();
        unsigned ticket = atomicInc(&retirement_count, gridDim.x);
        am_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (am_last) {
        float sum = 0;
        for (unsigned i = threadIdx.x; i < gridDim.x; i += 256) sum += partial[i];
        sum = wave_sum(sum);
        __syncthreads();
        if (threadIdx.x % 64 == 0) lds[threadIdx.x / 64] = sum;
        __syncthreads();
        if (threadIdx.x == 0) {
            out[0] = lds[0] + lds[1] + lds[2] + lds[3];
            retirement_count = 0;
        }
    }
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    int blocks = (n + 1023) / 1024;
    float* partial;
    hipMalloc(&partial, blocks * sizeof(float));
    single_pass<<<blocks, 256, 0, stream>>>(x, partial, out, n);
    hipFree(partial);
}
