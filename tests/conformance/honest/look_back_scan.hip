#include <hip/hip_runtime.h>

// A scan in one pass: a block publishes its sum, then what all before it have, and looks back for theirs. Blocks take their
// places by tickets, so that those that they wait for have begun.
__global__ void scan(const float* x, float* out, float* sums, float* prefixes, unsigned* flags, unsigned* ticket, int n) {
    __shared__ float tile[128];
    __shared__ unsigned block;
    __shared__ float before;
    if (threadIdx.x == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    int i = block * 128 + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        float other = threadIdx.x >= d ? tile[threadIdx.x - d] : 0;
        __syncthreads();
        tile[threadIdx.x] += other;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[block] = tile[127];
        __threadfence();
        atomicExch(&flags[block], 1u);
        float sum = 0;
        for (int at = int(block) - 1; at >= 0;) {
            unsigned flag = atomicAdd(&flags[at], 0u);
            if (flag == 0) continue;
            __threadfence();
            if (flag == 2) {
                sum += prefixes[at];
                break;
            }
            sum += sums[at--];
        }
        prefixes[block] = sum + tile[127];
        __threadfence();
        atomicExch(&flags[block], 2u);
        before = sum;
    }
    __syncthreads();
    if (i < n) out[i] = before + tile[threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    int blocks = (n + 127) / 128;
    float *sums, *prefixes;
    unsigned* flags;
    hipMalloc(&sums, blocks * sizeof(float));
    hipMalloc(&prefixes, blocks * sizeof(float));
    hipMalloc(&flags, (blocks + 1) * sizeof(unsigned));
    hipMemsetAsync(flags, 0, (blocks + 1) * sizeof(unsigned), stream);
    scan<<<blocks, 128, 0, stream>>>(x, out, sums, prefixes, flags, flags + blocks, n);
    hipFree(sums);
    hipFree(prefixes);
    hipFree(flags);
}
