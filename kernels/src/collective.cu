// collective: a collective among all ranks, by the steps that the host lists for each of them.
//
// Target     sm_90: the switch of NVLink SHARP reduces by multimem instructions.
// Launch     all ranks at once, a block of any number of threads for each channel (role is the rank, qp_count the
//            number of ranks). A channel is a part of the buffer with its own steps, flags and queue pairs.
//            Queue pair c * qp_count + p is that of channel c to rank p; those that no step uses may be zero.
// Job        operand: struct doorbell_step[channels][compare], the first `window` of each channel are timed;
//            opcode: type and reduction (collective_abi.h); local: the arena; peers: inbox is the arena, signals
//            the flags of each rank; signals: [channels][qp_count], a word of each rank; iterations, warmup,
//            samples, status; remote: the multicast object over the arenas of the node, if a step needs it.
// Order      that of doorbell/collective.cuh. The steps behind those that are timed are a barrier, and a quiet
//            follows, so that a turn finds the arenas free.
// Who else   the HCAs write arenas and flags; nobody else posts to the queue pairs.
// Samples    [channels][iterations][2]: the time before the first timed step and the time behind the last.
#define DOORBELL_BACK_ENDS
#include "doorbell/collective.cuh"
#include "protocol.cuh"

using namespace doorbell;

extern "C" __global__ void collective(const doorbell_qp *qps, const doorbell_job *jobs) {
  const doorbell_job &job = jobs[0];
  const doorbell_signals *signals = reinterpret_cast<const doorbell_signals *>(job.signals);
  const uint64_t channel = blockIdx.x;
  const uint64_t words = channel * job.qp_count;
  qps += words;
  const doorbell::collective::program mine{reinterpret_cast<const doorbell_step *>(job.operand) +
                                               channel * job.compare,
                                           job.local,
                                           job.local_key,
                                           static_cast<uint32_t>(words) + job.role,
                                           reinterpret_cast<const uint64_t *>(signals->own) + words,
                                           reinterpret_cast<const doorbell_peer *>(job.peers),
                                           job.opcode >> 8,
                                           job.opcode & 0xffu,
                                           job.remote};
  const uint64_t turns = job.warmup + job.iterations;
  uint64_t *samples = reinterpret_cast<uint64_t *>(job.samples) + 2 * channel * job.iterations;
  uint32_t status = DOORBELL_OK;
  for (uint64_t turn = 0; turn < turns; ++turn) {
    const uint64_t start = global_time();
    status = doorbell::collective::execute(qps, mine, turn, 0, job.window);
    if (threadIdx.x == 0 && turn >= job.warmup) {
      samples[2 * (turn - job.warmup)] = start;
      samples[2 * (turn - job.warmup) + 1] = global_time();
    }
    if (status == DOORBELL_OK) {
      status = doorbell::collective::execute(qps, mine, turn, job.window, job.compare);
    }
    // What the next turn writes has been sent.
    for (uint32_t peer = threadIdx.x; peer < job.qp_count && status == DOORBELL_OK;
         peer += blockDim.x) {
      if (qps[peer].sq_ring != 0) {
        status = quiet(queue_pair(&qps[peer]));
      }
    }
    if (__syncthreads_or(status != DOORBELL_OK)) {
      break;
    }
  }
  protocol::report(job, status);
}
