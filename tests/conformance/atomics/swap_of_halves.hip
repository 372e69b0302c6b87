#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>

__device__ void add(__half* at, __half value) {
    // There is no swap of 16 bits: the word around it is swapped.
    size_t address = reinterpret_cast<size_t>(at);
    unsigned* word = reinterpret_cast<unsigned*>(address & ~size_t(3));
    unsigned shift = address & 2 ? 16 : 0, seen = *word, before;
    do {
        before = seen;
        __half_raw raw;
        raw.x = static_cast<unsigned short>(before >> shift);
        __half_raw sum = __half_raw(__hadd(__half(raw), value));
        seen = atomicCAS(word, before, (before & ~(0xFFFFu << shift)) | unsigned(sum.x) << shift);
    } while (seen != before);
}

__global__ void start(__half* out) { out[threadIdx.x] = __float2half(0.0f); }
__global__ void count(__half* out) { add(out + threadIdx.x % 3, __float2half(1.0f)); }

extern "C" void run(const float* x, int64_t n, __half* out, hipStream_t stream) {
    start<<<1, 4, 0, stream>>>(out);
    count<<<2, 96, 0, stream>>>(out);
}
