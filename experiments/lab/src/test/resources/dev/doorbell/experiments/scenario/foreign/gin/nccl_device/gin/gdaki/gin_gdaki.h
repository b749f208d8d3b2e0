// A stand-in for GIN's back end GDAKI, for tests: structures with the names that the adapter asks for, in an order of
// our own, over the stand-in for GPUNetIO. Nothing of it is the library's code.
#pragma once

#include <doca_gpunetio_device.h>

struct stand_in_table {
  uint32_t offset;
  uint32_t lkey;
  uint32_t *rkeys;
  uint64_t *buffer;
};

struct ncclGinGdakiGPUContext {
  uint64_t added[2];
  uint64_t *last_visible_get;
  uint64_t *last_issued_get;
  stand_in_table signals_table;
  stand_in_table counters_table;
  doca_gpu_dev_verbs_qp *companion_gdqp;
  doca_gpu_dev_verbs_qp *gdqp;
  uint32_t sink_buffer_lkey;
};

struct ncclGinGdakiMemHandle {
  uint32_t lkey;
  uint32_t *rkeys;
};
