// A stand-in for NVSHMEM's IBGDA transport, for tests: structures with the names that the adapter asks for, in an
// order of our own and with fields that it does not know, and a put over them. Nothing of it is the library's code.
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
  NVSHMEMI_JOB_GPU_PROXY = 5,
  NVSHMEMI_JOB_GPU_LDST_ATOMICS = 2,
  NVSHMEM_TEAM_GPU_LEADERS_INDEX = 0,
  NVSHMEM_TEAM_SAME_GPU_INDEX = 1,
  NVSHMEM_TEAM_SAME_MYPE_NODE_INDEX = 2,
  NVSHMEM_TEAM_NODE_INDEX = 3,
  NVSHMEM_TEAM_SHARED_INDEX = 4,
  NVSHMEM_TEAM_WORLD_INDEX = 5,
  NVSHMEM_TEAMS_MIN = 7,
  NVSHMEMI_SYNC_SIZE = 48,
  NVSHMEMI_BCAST_SYNC_SIZE = 24,
  NVSHMEMI_ALLTOALL_SYNC_SIZE = 8,
};

struct nvshmemi_team_t {
  int *pe_mapping;
  void *nvls_rsc_base_ptr;
  bool is_team_same_mype_node;
  bool is_team_node;
  bool are_gpus_p2p_connected;
  int team_same_mype_node;
  int team_node;
  uint64_t fcollect_count;
  uint64_t bcast_sync_offset;
  uint64_t bcast_count;
  uint64_t alltoall_count;
  uint64_t alltoall_pwrk[2];
  size_t rdxn_count;
  uint32_t ll_flag;
  struct {
    int **step2_nbrs;
    int *step1_recvfrom;
    int step2_nphases;
    int step1_nrecvs;
    int step1_sendto;
  } reduce_recexch;
  int team_idx;
  int size;
  int stride;
  int start;
  int my_pe;
};

struct nvshmemi_device_host_state_t {
  struct {
    size_t reduce_nvls_threshold;
    size_t reduce_scratch_size;
    size_t fcollect_ll128_threshold;
    size_t fcollect_ll_threshold;
    int reducescatter_algo;
    int fcollect_algo;
    int reduce_algo;
    int bcast_algo;
    int bcast_tree_kval;
    int reduce_recexch_kval;
    int barrier_tg_dissem_kval;
    int barrier_dissem_kval;
  } gpu_coll_env_params_var;
  long *sync_counter;
  long *psync_pool;
  nvshmemi_team_t **team_pool;
  uint64_t *test_wait_any_start_idx_ptr;
  void **peer_heap_base_remote;
  void **peer_heap_base_p2p;
  size_t heap_size;
  void *heap_base;
  uint64_t added[3];
  int job_connectivity;
  bool symmetric_heap_kind;
  bool enable_rail_opt;
  int node_mype;
  int node_npes;
  int npes;
  int mype;
  bool ibgda_is_initialized;
};

struct nvshmemi_ibgda_device_key_t {
  uint64_t next_addr;
  uint32_t key;
};

struct nvshmemi_ibgda_device_local_only_mhandle_t {
  uint32_t lkeys[4];
  nvshmemi_ibgda_device_local_only_mhandle_t *next;
  uint64_t end;
  uint64_t start;
};

struct nvshmemi_ibgda_device_cq_t {
  uint64_t *ready_head;
  uint64_t *resv_head;
  uint64_t *cons_idx;
  uint64_t *prod_idx;
  uint8_t *cqe;
  uint32_t *dbrec;
  uint32_t qpn;
  uint32_t ncqes;
  uint32_t cqn;
  int qp_type;
};

struct nvshmemi_ibgda_device_qp_t {
  struct {
    struct {
      uint64_t cons_idx;
      uint64_t prod_idx;
      uint64_t ready_head;
      uint64_t resv_head;
    } tx_wq;
    int post_send_lock;
  } mvars;
  struct {
    nvshmemi_ibgda_device_cq_t *cq;
    uint64_t *prod_idx;
    void *bf;
    uint32_t *dbrec;
    uint8_t *wqe;
    uint16_t nwqes;
  } tx_wq;
  struct {
    uint32_t rkey;
    uint32_t lkey;
    void *buf;
    uint32_t nslots;
  } ibuf;
  uint32_t dev_idx;
  uint32_t qpn;
  int qp_type;
};

struct nvshmemi_ibgda_device_state_t {
  struct {
    nvshmemi_ibgda_device_local_only_mhandle_t *local_only_mhandle_head;
    nvshmemi_ibgda_device_qp_t *rcs;
    nvshmemi_ibgda_device_qp_t *dcis;
    nvshmemi_ibgda_device_cq_t *cqs;
    uint8_t *qp_group_switches;
  } globalmem;
  struct {
    nvshmemi_ibgda_device_key_t rkeys[16];
    nvshmemi_ibgda_device_key_t lkeys[16];
  } constmem;
  int dci_map_type;
  uint32_t num_qp_groups;
  uint32_t num_exclusive_dcis;
  uint32_t num_shared_dcis;
  size_t log2_cumem_granularity;
  int num_devices_initialized;
  uint32_t num_requests_in_batch;
  uint32_t num_default_rc_per_pe;
  uint32_t num_rc_per_pe;
  bool may_skip_cst;
  bool support_half_av_seg;
  bool nic_buf_on_gpumem;
};

#ifdef __CUDA_ARCH__
extern __constant__ nvshmemi_device_host_state_t nvshmemi_device_state_d;
extern __constant__ nvshmemi_ibgda_device_state_t nvshmemi_ibgda_device_state_d;

static __device__ uint32_t stand_in_swap(uint32_t value) { return __byte_perm(value, 0, 0x0123); }

static __device__ nvshmemi_ibgda_device_qp_t *stand_in_qp(int pe) {
  const nvshmemi_ibgda_device_state_t &state = nvshmemi_ibgda_device_state_d;
  if (pe == nvshmemi_device_state_d.mype) {
    return &state.globalmem.dcis[state.num_exclusive_dcis + state.num_shared_dcis - 1];
  }
  const uint32_t turn = ++state.globalmem.qp_group_switches[0] % state.num_default_rc_per_pe;
  return &state.globalmem.rcs[turn * nvshmemi_device_state_d.npes + pe];
}

// Waits until everything below `index` of a queue pair has completed; its only entry has the last WQE's number.
static __device__ void stand_in_wait(nvshmemi_ibgda_device_qp_t *qp, uint64_t index) {
  nvshmemi_ibgda_device_cq_t *cq = qp->tx_wq.cq;
  volatile uint8_t *counter = cq->cqe + 60;
  while (*cq->cons_idx < index) {
    const uint32_t last = uint32_t(counter[0]) << 8 | counter[1];
    if (uint16_t(uint16_t(index) - last - 2) >= cq->ncqes) {
      *cq->cons_idx = index;
    }
  }
  __threadfence_system();
}

// One thread puts `bytes` to the place in the heap of `pe` that `remote` is in the own one.
static __device__ void stand_in_put(uint64_t remote, uint64_t local, uint32_t bytes, int pe) {
  const nvshmemi_device_host_state_t &host = nvshmemi_device_state_d;
  const nvshmemi_ibgda_device_state_t &state = nvshmemi_ibgda_device_state_d;
  uint32_t lkey = state.constmem.lkeys[0].key;
  if (local - reinterpret_cast<uint64_t>(host.heap_base) >= host.heap_size) {
    const nvshmemi_ibgda_device_local_only_mhandle_t *handle = state.globalmem.local_only_mhandle_head;
    while (local < handle->start || local > handle->end) {
      handle = handle->next;
    }
    lkey = handle->lkeys[0];
  }
  const uint64_t offset = remote - reinterpret_cast<uint64_t>(host.heap_base);
  const uint32_t chunk = uint32_t(offset >> state.log2_cumem_granularity);
  const nvshmemi_ibgda_device_key_t &key = state.constmem.rkeys[chunk * host.npes + pe];
  const uint64_t address = reinterpret_cast<uint64_t>(host.peer_heap_base_remote[pe]) + offset;
  nvshmemi_ibgda_device_qp_t *qp = stand_in_qp(pe);
  const uint64_t index = qp->mvars.tx_wq.resv_head++;
  if (index >= qp->tx_wq.nwqes) {
    stand_in_wait(qp, index + 1 - qp->tx_wq.nwqes);
  }
  uint32_t *wqe = reinterpret_cast<uint32_t *>(qp->tx_wq.wqe + index % qp->tx_wq.nwqes * 64);
  wqe[0] = stand_in_swap(uint32_t(index & 0xffff) << 8 | 0x08);
  wqe[1] = stand_in_swap(qp->qpn << 8 | 3);
  wqe[2] = 0x08000000;
  wqe[3] = 0;
  wqe[4] = stand_in_swap(uint32_t(address >> 32));
  wqe[5] = stand_in_swap(uint32_t(address));
  wqe[6] = key.key;
  wqe[7] = 0;
  wqe[8] = stand_in_swap(bytes);
  wqe[9] = lkey;
  wqe[10] = stand_in_swap(uint32_t(local >> 32));
  wqe[11] = stand_in_swap(uint32_t(local));
  __threadfence_system();
  *const_cast<volatile uint32_t *>(qp->tx_wq.dbrec) = stand_in_swap(uint32_t(index + 1) & 0xffff);
  __threadfence_system();
  const uint64_t doorbell = uint64_t(stand_in_swap(qp->qpn << 8)) << 32 | stand_in_swap(uint32_t(index + 1) << 8);
  *static_cast<volatile uint64_t *>(qp->tx_wq.bf) = doorbell;
  *qp->tx_wq.prod_idx = index + 1;
}

// Waits for everything that this PE has posted.
static __device__ void stand_in_quiet() {
  const nvshmemi_device_host_state_t &host = nvshmemi_device_state_d;
  const nvshmemi_ibgda_device_state_t &state = nvshmemi_ibgda_device_state_d;
  for (uint32_t i = 0; i < state.num_default_rc_per_pe * host.npes; ++i) {
    nvshmemi_ibgda_device_qp_t *qp = &state.globalmem.rcs[i];
    if (i % host.npes != host.mype) {
      stand_in_wait(qp, *qp->tx_wq.prod_idx);
    }
  }
  for (uint32_t i = 0; i < state.num_exclusive_dcis + state.num_shared_dcis; ++i) {
    stand_in_wait(&state.globalmem.dcis[i], *state.globalmem.dcis[i].tx_wq.prod_idx);
  }
}

// Numbers of 8 bytes of a team's areas: barriers, reductions, broadcasts, what is gathered, all-to-all, a word each.
static __device__ long *stand_in_area(const nvshmemi_team_t *team) {
  const nvshmemi_device_host_state_t &host = nvshmemi_device_state_d;
  const auto &chosen = host.gpu_coll_env_params_var;
  const size_t longs = 2 * NVSHMEMI_SYNC_SIZE + NVSHMEMI_BCAST_SYNC_SIZE + 2 * NVSHMEMI_ALLTOALL_SYNC_SIZE + host.npes +
                       (chosen.reduce_scratch_size + 4 * host.npes * chosen.fcollect_ll_threshold) / sizeof(long);
  return host.psync_pool + team->team_idx * longs;
}

// Stores a value and puts it to the same place of the heap of `pe`; a word of the own heap that nobody reads sends it.
static __device__ void stand_in_send(long *place, long value, int pe) {
  long *from = stand_in_area(nvshmemi_device_state_d.team_pool[NVSHMEM_TEAM_WORLD_INDEX]) + NVSHMEMI_SYNC_SIZE;
  *from = value;
  stand_in_put(reinterpret_cast<uint64_t>(place), reinterpret_cast<uint64_t>(from), sizeof(long), pe);
  stand_in_quiet();
}

static __device__ void stand_in_await(const volatile long *place, long value) {
  while (*place < value) {
  }
  __threadfence_system();
}

// A dissemination barrier of all PEs.
static __device__ void stand_in_barrier() {
  const nvshmemi_team_t *team = nvshmemi_device_state_d.team_pool[NVSHMEM_TEAM_WORLD_INDEX];
  long *area = stand_in_area(team);
  long &turn = nvshmemi_device_state_d.sync_counter[2 * team->team_idx];
  for (int shift = 1; shift < team->size; shift *= nvshmemi_device_state_d.gpu_coll_env_params_var.barrier_dissem_kval) {
    stand_in_send(area + team->my_pe, turn, team->pe_mapping[(team->my_pe + shift) % team->size]);
    stand_in_await(area + team->pe_mapping[(team->my_pe + team->size - shift) % team->size], turn);
  }
  ++turn;
}

// Receives the number of another PE in a phase of its own, and confirms nothing: a barrier follows.
static __device__ long stand_in_receive(long *area, int pe, int phase) {
  const int npes = nvshmemi_device_state_d.npes;
  stand_in_await(area + npes * phase + pe, 1);
  return area[npes * phase + pe];
}

// The sum of the positive numbers of all PEs, by the neighbours that their teams name.
static __device__ long stand_in_sum(long value) {
  const int npes = nvshmemi_device_state_d.npes;
  const nvshmemi_team_t *team = nvshmemi_device_state_d.team_pool[NVSHMEM_TEAM_WORLD_INDEX];
  const auto &exchange = team->reduce_recexch;
  long *area = stand_in_area(team) + 2 * NVSHMEMI_SYNC_SIZE;
  for (int i = 0; i < npes * (exchange.step2_nphases + 2); ++i) {
    area[i] = 0;
  }
  stand_in_barrier();
  if (exchange.step1_sendto >= 0) {
    stand_in_send(area + team->my_pe, value, exchange.step1_sendto);
    value = stand_in_receive(area, exchange.step1_sendto, exchange.step2_nphases + 1);
  } else {
    for (int i = 0; i < exchange.step1_nrecvs; ++i) {
      value += stand_in_receive(area, exchange.step1_recvfrom[i], 0);
    }
    for (int phase = 0; phase < exchange.step2_nphases; ++phase) {
      const int other = exchange.step2_nbrs[phase][0];
      stand_in_send(area + npes * (phase + 1) + team->my_pe, value, other);
      value += stand_in_receive(area, other, phase + 1);
    }
    for (int i = 0; i < exchange.step1_nrecvs; ++i) {
      stand_in_send(area + npes * (exchange.step2_nphases + 1) + team->my_pe, value, exchange.step1_recvfrom[i]);
    }
  }
  stand_in_barrier();
  return value;
}
#endif
