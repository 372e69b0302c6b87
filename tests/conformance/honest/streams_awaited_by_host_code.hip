#include "streams.h"

extern "C" void run(const float* x, int64_t n, float* out, hipStream_t stream) {
    float *one, *other;
    (void)hipMalloc((void**)&one, n * sizeof(float));
    (void)hipMalloc((void**)&other, n * sizeof(float));
    hipStream_t sides[] = {apart(), apart(), apart()};
    hipEvent_t done;
    (void)hipEventCreate(&done);
    scale<<<(n + 255) / 256, 256, 0, sides[0]>>>(x, one, n, 2);
    (void)hipStreamSynchronize(sides[0]);
    scale<<<(n + 255) / 256, 256, 0, sides[1]>>>(one, other, n, 2);
    (void)hipEventRecord(done, sides[1]);
    (void)hipEventSynchronize(done);
    scale<<<(n + 255) / 256, 256, 0, sides[2]>>>(other, one, n, 2);
    while (hipStreamQuery(sides[2]) == hipErrorNotReady) {}
    scale<<<(n + 255) / 256, 256, 0, sides[0]>>>(one, out, n, 2);
    (void)hipDeviceSynchronize();
    (void)hipFree(one);
    (void)hipFree(other);
}
