// gpu_nic: a GPU as the NIC of another one: it answers the queue pairs whose doorbells lie in its memory.
//
// Launch     on the GPU that is the NIC, while kernels on another one post; a multiple of qp_count
//            blocks, engines, of up to 512 threads, whole warps. Block b answers queue pair b % qp_count.
// Job        queue pairs as the posters see them, whose doorbells lie in this GPU's memory and the rest
//            in the posters'. iterations: WQEs after which a queue pair is at its end. local, bytes,
//            local_key and staging_wire, staging_bytes, staging_key: what WQEs may read; remote, stride,
//            remote_key: what they may write. inbox: GPU_NIC_STATE_BYTES (256) for each queue pair, zeroed.
// WQEs       of one block: puts, inline up to 28 bytes, and NOPs. Anything else ends the queue pair with
//            an error CQE, as do keys and ranges that were not registered.
// Order      that of gpu_nic.cuh. The doorbell is the truth: it lies in memory and no store to it is
//            lost, so no record is read (queue pairs are NO_RECORD). Payloads of WQEs that were claimed
//            together arrive in any order, CQEs in theirs.
// Who else   the posters write rings and doorbells, and read CQEs.
#include "gpu_nic.cuh"

using namespace doorbell;

namespace {

constexpr uint32_t kLocalOperation = 0x02;   // syndromes
constexpr uint32_t kLocalProtection = 0x04;
constexpr uint32_t kRemoteAccess = 0x13;
constexpr uint32_t kInlineBytes = 28;        // of a WQE of one block
constexpr uint32_t kInlinePayload = 36;      // where they begin

struct request {
  nic::delivery payload;
  uint32_t syndrome;
  uint32_t opcode;
  bool signaled;
};

__device__ __forceinline__ uint4 load(uint64_t address) {
  return *reinterpret_cast<const uint4 *>(address);
}

__device__ __forceinline__ uint64_t joined(uint32_t high, uint32_t low) {
  return static_cast<uint64_t>(big_endian(high)) << 32 | big_endian(low);
}

// Whether the job lets a WQE read there.
__device__ __forceinline__ bool readable(const doorbell_job &job, uint32_t key, uint64_t address,
                                         uint64_t bytes) {
  return (key == job.local_key && nic::inside(address, bytes, job.local, job.bytes)) ||
         (key == job.staging_key &&
          nic::inside(address, bytes, job.staging_wire, job.staging_bytes));
}

// Reads the WQE at block `index`.
__device__ __forceinline__ request read_wqe(const doorbell_qp &qp, const doorbell_job &job,
                                            uint64_t index) {
  const uint64_t wqe = qp.sq_ring + (index & (qp.sq_blocks - 1)) * kBlockBytes;
  const uint4 control = load(wqe);
  const uint4 target = load(wqe + kUnitBytes);
  const uint4 data = load(wqe + 2 * kUnitBytes);
  const uint32_t head = big_endian(control.x);
  const uint32_t units = big_endian(control.y) & 0x3fu;
  request found{{0, 0, 0}, 0, head & 0xffu, (control.z >> 24 & kSignaled) != 0};
  if ((head >> 8 & 0xffffu) != (low(index) & 0xffffu) || big_endian(control.y) >> 8 != qp.qpn ||
      units == 0 || units > kUnitsOfBlock ||
      (found.opcode != kOpcodeNop && found.opcode != kOpcodeWrite)) {
    found.syndrome = kLocalOperation;
    return found;
  }
  if (found.opcode == kOpcodeNop || units < 3) {
    return found;
  }
  const uint32_t count = big_endian(data.x);
  found.payload.to = joined(target.x, target.y);
  found.payload.bytes = count & ~kInlineFlag;
  if ((count & kInlineFlag) != 0) {
    found.payload.from = wqe + kInlinePayload;
    found.syndrome = found.payload.bytes > kInlineBytes ? kLocalOperation : 0;
  } else {
    found.payload.from = joined(data.z, data.w);
    found.syndrome =
        readable(job, data.y, found.payload.from, found.payload.bytes) ? 0 : kLocalProtection;
  }
  if (found.syndrome == 0 && (target.z != job.remote_key ||
                              !nic::inside(found.payload.to, found.payload.bytes, job.remote,
                                           job.stride))) {
    found.syndrome = kRemoteAccess;
  }
  return found;
}

// Writes CQE number `entry`, its last word last and released: the poster that acquires it finds
// everything delivered that its writer has stored or acquired.
__device__ __forceinline__ void write_cqe(const doorbell_qp &qp, uint64_t entry, uint64_t index,
                                          const request &done) {
  const bool collapsed = (qp.flags & DOORBELL_QP_CQ_COLLAPSED) != 0;
  const uint64_t cqe = qp.cq_ring + (collapsed ? 0 : entry & (qp.cq_entries - 1)) * kCqeBytes;
  const uint32_t owner = !collapsed && (entry & qp.cq_entries) != 0 ? 1 : 0;
  const uint32_t opcode = done.syndrome != 0 ? kCqeRequesterError : 0;
  uint32_t *words = reinterpret_cast<uint32_t *>(cqe);
  words[0x2c / 4] = big_endian(static_cast<uint32_t>(done.payload.bytes));
  words[0x34 / 4] = big_endian(done.syndrome);
  words[0x38 / 4] = big_endian(done.opcode << 24 | qp.qpn);
  store_release_system(words + 0x3c / 4,
                       big_endian((low(index) & 0xffffu) << 16 | opcode << 4 | owner));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(512) gpu_nic(const doorbell_qp *qps, const doorbell_job *jobs) {
  __shared__ nic::claim claimed;
  __shared__ nic::delivery work[nic::kMostClaimed];
  __shared__ uint32_t failed;
  const doorbell_job job = jobs[0];
  const uint32_t queues = job.qp_count == 0 ? 1 : job.qp_count;
  const uint32_t number = blockIdx.x % queues;
  const doorbell_qp qp = qps[number];
  nic::engine engine(reinterpret_cast<nic::shared_state *>(job.inbox) + number, job.iterations,
                     gridDim.x / queues, qp.deadline_ns);
  const bool leads = detail::leads_block();
  uint32_t status = gridDim.x % queues == 0 && blockDim.x % 32 == 0 ? DOORBELL_OK
                                                                    : DOORBELL_ERROR_ARGUMENT;

  while (status == DOORBELL_OK) {
    if (leads) {
      claimed = engine.next([&](uint64_t first) {
        const uint64_t rung =
            load_acquire_system(reinterpret_cast<const uint64_t *>(qp.doorbell));
        const uint32_t index = big_endian(low(rung)) >> 8;
        const uint32_t ahead = (index - low(first)) & 0xffffu;
        return ahead > qp.sq_blocks ? ~0ull : first + ahead;
      });
      failed = nic::kMostClaimed;
    }
    __syncthreads();
    const nic::claim mine = claimed;
    if (mine.count == 0) {
      status = mine.status;
      break;
    }
    request own{{0, 0, 0}, 0, 0, false};
    if (threadIdx.x < mine.count) {
      own = read_wqe(qp, job, mine.first + threadIdx.x);
      work[threadIdx.x] = own.payload;
      if (own.syndrome != 0) {
        atomicMin(&failed, threadIdx.x);
      }
    }
    __syncthreads();
    const uint32_t good = failed < mine.count ? failed : mine.count;
    nic::deliver(work, good);
    __syncthreads();  // what all have stored, before the first warp reports it
    if (threadIdx.x < 32) {
      const uint32_t lane = threadIdx.x;
      uint32_t turn = DOORBELL_OK;
      uint64_t entry = 0;
      if (lane == 0) {
        turn = engine.turn(mine.first);
        entry = engine.state()->entries;
      }
      turn = __shfl_sync(0xffffffffu, turn, 0);  // and what lane 0 has acquired, to all lanes
      entry = __shfl_sync(0xffffffffu, entry, 0);
      __syncwarp();
      const bool error = lane == good && good < mine.count;
      const bool reports =
          turn == DOORBELL_OK && (error || (lane < good && own.signaled));
      const uint32_t reporting = __ballot_sync(0xffffffffu, reports);
      const bool collapsed = (qp.flags & DOORBELL_QP_CQ_COLLAPSED) != 0;
      // Of a collapsed queue the last CQE stands for all.
      if (reports && (!collapsed || reporting >> lane == 1u)) {
        write_cqe(qp, entry + __popc(reporting & ((1u << lane) - 1)), mine.first + lane, own);
      }
      __syncwarp();
      if (lane == 0) {
        if (turn == DOORBELL_OK) {
          engine.state()->entries = entry + __popc(reporting);
          turn = good < mine.count ? engine.stop(DOORBELL_ERROR_CQE) : DOORBELL_OK;
          engine.hand_on(mine.first + good);
        }
        claimed.status = turn;
      }
    }
    __syncthreads();
    status = claimed.status;
    __syncthreads();  // before the first thread claims again
  }
  protocol::report(job, status);
}
