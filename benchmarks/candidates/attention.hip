// Scaled dot-product attention, step by step.
#include <hip/hip_runtime.h>
#include <torch/extension.h>

// One block computes one row of the output with an online softmax.
template <typename scalar_t, int THREADS>
__global__ void attention_row_kernel(const scalar_t* __restrict__ Q, const scalar_t* __restrict__ K,
                                     const scalar_t* __restrict__ V, scalar_t* __restrict__ O, int length, int width,
                                     float scale) {
    extern __shared__ float memory[];
    float* query = memory;           // width
    float* scores = memory + width;  // THREADS
    const int row = blockIdx.x, head = blockIdx.y, tid = threadIdx.x;
    const size_t base = static_cast<size_t>(head) * length * width;
    for (int d = tid; d < width; d += THREADS) {
        query[d] = static_cast<float>(Q[base + row * width + d]) * scale;
    }
    __syncthreads();

    float largest = -INFINITY, sum = 0.0f, acc = 0.0f;
    for (int start = 0; start < length; start += THREADS) {
        const int j = start + tid;
        float score = -INFINITY;
        if (j < length) {
            score = 0.0f;
            for (int d = 0; d < width; ++d) {
                score += query[d] * static_cast<float>(K[base + j * width + d]);
            }
        }
        scores[tid] = score;
        __syncthreads();
        float chunk = largest;
        const int count = min(THREADS, length - start);
        for (int t = 0; t < count; ++t) chunk = fmaxf(chunk, scores[t]);
        const float correction = __expf(largest - chunk);
        sum *= correction;
        acc *= correction;
        for (int t = 0; t < count; ++t) {
            const float p = __expf(scores[t] - chunk);
            sum += p;
            if (tid < width) acc += p * static_cast<float>(V[base + (start + t) * width + tid]);
        }
        largest = chunk;
        __syncthreads();
    }
    if (tid < width) {
        O[base + row * width + tid] = static_cast<scalar_t>(acc / sum);
    }
}

torch::Tensor forward(torch::Tensor query, torch::Tensor key, torch::Tensor value) {
    query = query.contiguous();
    key = key.contiguous();
    value = value.contiguous();
    const int heads = query.size(0), length = query.size(1), width = query.size(2);
    constexpr int threads = 64;
    TORCH_CHECK(width <= threads, "the head is too wide");
    auto out = torch::empty_like(query);
    const size_t bytes = (width + threads) * sizeof(float);
    const float scale = 1.0f / std::sqrt(static_cast<float>(width));
    attention_row_kernel<float, threads>
        <<<dim3(length, heads), threads, bytes>>>(query.data_ptr<float>(), key.data_ptr<float>(),
                                                  value.data_ptr<float>(), out.data_ptr<float>(), length, width, scale);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "Scaled dot-product attention, step by step"); }
