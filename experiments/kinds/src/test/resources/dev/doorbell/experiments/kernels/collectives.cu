// collectives: a rank's messages among many ranks, by the pattern that job.window names.
//
// Window     1: alltoall, 2: allgather, 3: gather at rank 0, 4: shift to the next rank.
// Stamps     of every rank that sends.
//
// Compiled by: nvcc -ptx -O3 -std=c++17 -arch=compute_75 -I kernels/include collectives.cu; .version
// lowered to 8.2.
#include "doorbell/doorbell.cuh"

using namespace doorbell;

extern "C" __global__ void collectives(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job job = jobs[0];
  const doorbell_peer *peers = reinterpret_cast<const doorbell_peer *>(job.peers);
  const uint32_t rank = job.role;
  const uint32_t ranks = job.qp_count;
  uint32_t status = DOORBELL_OK;
  uint64_t sent = 0;
  const uint64_t start = global_time();
  for (uint32_t step = 1; step < ranks; ++step) {
    const uint32_t to = (rank + step) % ranks;
    const bool sends = job.window == 3 ? to == 0 : job.window != 4 || step == 1;
    if (sends) {
      const queue_pair qp(&qps[to]);
      const uint64_t from = job.local + (job.window == 1 ? to : rank) * job.stride;
      for (uint64_t n = 0; n < job.iterations && status == DOORBELL_OK; ++n, ++sent) {
        status = put(qp, {peers[to].inbox + rank * job.stride, peers[to].inbox_key},
                     {from, job.local_key}, job.bytes)
                     .status;
      }
      if (status == DOORBELL_OK) {
        status = quiet(qp);
      }
    }
  }
  if (sent > 0) {
    reinterpret_cast<uint64_t *>(job.stamps)[0] = start;
    reinterpret_cast<uint64_t *>(job.stamps)[1] = global_time();
  }
  reinterpret_cast<uint32_t *>(job.status)[0] = status;
}
