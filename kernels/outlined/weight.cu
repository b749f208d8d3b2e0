// A caller whose weight `kernels/weight` takes: DOORBELL_LIVE values of 32 bits that are live where it may
// post. DOORBELL_STREAMING 0: they are computed with, 1: each turn loads as many others.
// DOORBELL_CARRY 0: it never posts, 1: a put and a wait inlined, 2: compiled apart, 3: those of light.cuh,
// 5: those of a poster of exclusive.cuh, record last.
// Whether it posts is known at run time alone: the one that never posts has the same test, and stores a word.
#include "doorbell/doorbell.cuh"
#include "doorbell/exclusive.cuh"
#include "doorbell/light.cuh"
#include "doorbell/outlined.cuh"

using namespace doorbell;

namespace {

// The message of a job, of which no part is held in a register before it is stored.
struct message_of_job {
  const doorbell_job *job;
  __device__ __forceinline__ uint64_t remote() const { return job->remote; }
  __device__ __forceinline__ uint32_t remote_key() const { return job->remote_key; }
  __device__ __forceinline__ uint64_t local() const { return job->local; }
  __device__ __forceinline__ uint32_t local_key() const { return job->local_key; }
  __device__ __forceinline__ uint32_t bytes() const { return static_cast<uint32_t>(job->bytes); }
};

}  // namespace

extern "C" __global__ void weight(const doorbell_qp *qps, const doorbell_job *job, float *data,
                                  uint64_t turns) {
  float *own = data + thread_index() * DOORBELL_LIVE;
  float live[DOORBELL_LIVE];
#pragma unroll
  for (uint32_t i = 0; i < DOORBELL_LIVE; ++i) {
    live[i] = own[i];
  }
#pragma unroll 1
  for (uint64_t turn = 0; turn < turns; ++turn) {
#if DOORBELL_STREAMING
    const float *more = own + (turn + 1) * gridDim.x * blockDim.x * DOORBELL_LIVE;
#endif
#pragma unroll
    for (uint32_t i = 0; i < DOORBELL_LIVE; ++i) {
#if DOORBELL_STREAMING
      live[i] = live[i] * 0.5f + more[i];
#else
      live[i] = live[i] * live[(i + 1) % DOORBELL_LIVE] + 0.5f;
#endif
    }
#if DOORBELL_CARRY == 0
    if (job->iterations == turn) {
      *reinterpret_cast<volatile uint64_t *>(job->stamps) = turn;
    }
#elif DOORBELL_CARRY == 1
    if (job->iterations == turn) {
      const queue_pair qp(&qps[0]);
      const posted sent =
          put(qp, {job->remote, job->remote_key}, {job->local, job->local_key}, job->bytes);
      if (sent.status == DOORBELL_OK) {
        wait(qp, sent.ticket);
      }
    }
#elif DOORBELL_CARRY == 2
    if (job->iterations == turn) {
      doorbell_put_and_wait(&qps[0], job->remote, job->remote_key, job->local, job->local_key,
                            job->bytes);
    }
#elif DOORBELL_CARRY == 3
    if (job->iterations == turn) {
      if (light::put(&qps[0], message_of_job{job}) == DOORBELL_OK) {
        light::quiet(&qps[0]);
      }
    }
#elif DOORBELL_CARRY == 5
    if (job->iterations == turn) {
      exclusive::poster<exclusive::record::last> poster(&qps[0]);
      if (poster.put(message_of_job{job}) == DOORBELL_OK) {
        poster.quiet();
      }
      poster.close();
    }
#endif
  }
#pragma unroll
  for (uint32_t i = 0; i < DOORBELL_LIVE; ++i) {
    own[i] = live[i];
  }
}
