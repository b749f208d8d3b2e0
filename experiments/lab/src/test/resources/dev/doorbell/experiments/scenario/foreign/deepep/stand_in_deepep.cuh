// What the stand-ins for DeepEP's kernels post and wait by.
#pragma once

namespace {
#ifdef __CUDA_ARCH__

__device__ nvshmemi_ibgda_device_qp_t *connection(int pe, int number) {
  const nvshmemi_ibgda_device_state_t &state = nvshmemi_ibgda_device_state_d;
  return &state.globalmem.rcs[pe * state.num_rc_per_pe + number];
}

// Posts a WQE of `words` dwords after its control segment.
__device__ void post(nvshmemi_ibgda_device_qp_t *qp, uint32_t opcode, const uint32_t *body, int words) {
  const uint64_t index = qp->mvars.tx_wq.resv_head++;
  uint32_t *wqe = reinterpret_cast<uint32_t *>(qp->tx_wq.wqe + index % qp->tx_wq.nwqes * 64);
  wqe[0] = stand_in_swap(uint32_t(index & 0xffff) << 8 | opcode);
  wqe[1] = stand_in_swap(qp->qpn << 8 | (1 + words / 4));
  wqe[2] = 0x08000000;
  wqe[3] = 0;
  for (int i = 0; i < words; ++i) wqe[4 + i] = body[i];
  __threadfence_system();
  *const_cast<volatile uint32_t *>(qp->tx_wq.dbrec) = stand_in_swap(uint32_t(index + 1) & 0xffff);
  __threadfence_system();
  *static_cast<volatile uint64_t *>(qp->tx_wq.bf) =
      uint64_t(stand_in_swap(qp->qpn << 8)) << 32 | stand_in_swap(uint32_t(index + 1) << 8);
}

// Where `mine` is in the heap of a PE, as address and key of a WQE.
__device__ void remote(uint32_t *body, const void *mine, int pe) {
  const nvshmemi_device_host_state_t &host = nvshmemi_device_state_d;
  const uint64_t offset = static_cast<const uint8_t *>(mine) - static_cast<uint8_t *>(host.heap_base);
  const uint64_t address = reinterpret_cast<uint64_t>(host.peer_heap_base_remote[pe]) + offset;
  body[0] = stand_in_swap(uint32_t(address >> 32));
  body[1] = stand_in_swap(uint32_t(address));
  body[2] = nvshmemi_ibgda_device_state_d.constmem.rkeys[pe].key;
  body[3] = 0;
}

__device__ void data(uint32_t *body, const void *from, uint32_t bytes, uint32_t key) {
  body[0] = stand_in_swap(bytes);
  body[1] = key;
  body[2] = stand_in_swap(uint32_t(reinterpret_cast<uint64_t>(from) >> 32));
  body[3] = stand_in_swap(uint32_t(reinterpret_cast<uint64_t>(from)));
}

__device__ void send(void *to, const void *from, uint32_t bytes, int pe, int number) {
  if (pe == nvshmemi_device_state_d.mype) {
    memcpy(to, from, bytes);
    return;
  }
  uint32_t body[8];
  remote(body, to, pe);
  data(body + 4, from, bytes, nvshmemi_ibgda_device_state_d.constmem.lkeys[0].key);
  post(connection(pe, number), 0x08, body, 8);
}

__device__ void add(int *to, int value, int pe, int number) {
  if (pe == nvshmemi_device_state_d.mype) {
    __threadfence_system();
    *const_cast<volatile int *>(to) = value;
    return;
  }
  nvshmemi_ibgda_device_qp_t *qp = connection(pe, number);
  uint32_t body[12] = {};
  remote(body, to, pe);
  body[4] = stand_in_swap(uint32_t(value));
  data(body + 8, qp->ibuf.buf, 4, qp->ibuf.lkey);
  post(qp, 0x08000015, body, 12);
}

__device__ int await(const int *word) {
  int value;
  while ((value = *const_cast<volatile const int *>(word)) == 0) {
  }
  __threadfence_system();
  return value;
}
#endif
}  // namespace
