#include <hip/hip_runtime.h>

// Eight lanes turn their 8 x 8 numbers in registers: three rounds, each exchanges half of them.
__global__ void transpose(const int* x, int* out) {
    int lane = threadIdx.x, values[8];
    for (int i = 0; i < 8; i++) values[i] = x[lane * 8 + i];
    for (int step = 1; step < 8; step *= 2)
        for (int i = 0; i < 8; i++)
            if (!(i & step)) {
                bool upper = lane & step;
                int sent = upper ? values[i] : values[i | step];
                int got = __shfl_xor(sent, step);
                (upper ? values[i] : values[i | step]) = got;
            }
    for (int i = 0; i < 8; i++) out[lane * 8 + i] = values[i];
}

extern "C" void run(const int* x, int64_t, int* out, hipStream_t stream) { transpose<<<1, 64, 0, stream>>>(x, out); }
