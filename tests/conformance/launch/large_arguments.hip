#include <hip/hip_runtime.h>

struct Table {
    float values[1200];
};

__global__ void ends(float* out, Table first, Table second) {
    out[threadIdx.x] = first.values[threadIdx.x] + second.values[1199 - threadIdx.x];
}

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    Table table;
    for (int i = 0; i < 1200; i++) table.values[i] = i;
    ends<<<1, 64, 0, stream>>>(out, table, table);
}
