// Flash attention: 32 queries a block, keys in tiles of 32, a query a thread, online softmax in registers.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

template <typename T, int D, int BR, int BC>
__global__ void flash_fwd(const T* __restrict__ Q, const T* __restrict__ K, const T* __restrict__ V, T* __restrict__ O,
                          int N, float scale) {
    __shared__ float Ks[BC][D + 1], Vs[BC][D + 1];
    const int tid = threadIdx.x;
    const int64_t base = int64_t(blockIdx.y) * N * D;
    const int q_row = blockIdx.x * BR + tid;
    float q[D], o[D], m = -INFINITY, l = 0.f;
#pragma unroll
    for (int d = 0; d < D; d++) {
        q[d] = q_row < N ? static_cast<float>(Q[base + int64_t(q_row) * D + d]) * scale : 0.f;
        o[d] = 0.f;
    }
    const int last = min(N, (int)(blockIdx.x + 1) * BR);
    for (int j0 = 0; j0 < last; j0 += BC) {
        for (int i = tid; i < BC * D; i += BR) {
            const int r = i / D, d = i % D;
            const bool ok = j0 + r < N;
            Ks[r][d] = ok ? static_cast<float>(K[base + int64_t(j0 + r) * D + d]) : 0.f;
            Vs[r][d] = ok ? static_cast<float>(V[base + int64_t(j0 + r) * D + d]) : 0.f;
        }
        __syncthreads();
        float s[BC], m_new = m;
        for (int j = 0; j < BC; j++) {
            float dot = 0.f;
#pragma unroll
            for (int d = 0; d < D; d++) dot += q[d] * Ks[j][d];
            s[j] = j0 + j <= q_row && j0 + j < N ? dot : -INFINITY;
            m_new = fmaxf(m_new, s[j]);
        }
        const float alpha = __expf(m - m_new);
        l *= alpha;
#pragma unroll
        for (int d = 0; d < D; d++) o[d] *= alpha;
        for (int j = 0; j < BC; j++) {
            const float p = __expf(s[j] - m_new);
            l += p;
#pragma unroll
            for (int d = 0; d < D; d++) o[d] += p * Vs[j][d];
        }
        m = m_new;
        __syncthreads();
    }
    if (q_row < N)
#pragma unroll
        for (int d = 0; d < D; d++) O[base + int64_t(q_row) * D + d] = static_cast<T>(o[d] / l);
}

torch::Tensor forward(torch::Tensor q, torch::Tensor k, torch::Tensor v) {
    q = q.contiguous(), k = k.contiguous(), v = v.contiguous();
    const auto B = q.size(0), H = q.size(1), N = q.size(2), D = q.size(3);
    TORCH_CHECK(D == 64, "head_dim must be 64, got ", D);
    auto out = torch::empty_like(q);
    const dim3 grid((N + 31) / 32, B * H);
    const float scale = 1.0f / std::sqrt(static_cast<float>(D));
    AT_DISPATCH_SWITCH(q.scalar_type(), "flash", AT_DISPATCH_CASE(at::ScalarType::Float, [&] {
                           flash_fwd<scalar_t, 64, 32, 32><<<grid, 32>>>(q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), N, scale);
                       }) AT_DISPATCH_CASE(at::ScalarType::Half, [&] {
                           flash_fwd<scalar_t, 64, 32, 32><<<grid, 32>>>(q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), N, scale);
                       }) AT_DISPATCH_CASE(at::ScalarType::BFloat16, [&] {
                           flash_fwd<scalar_t, 64, 32, 32><<<grid, 32>>>(q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), N, scale);
                       }));
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.doc() = "flash attention";
    m.def("forward", &forward, py::arg("q"), py::arg("k"), py::arg("v"));
}
