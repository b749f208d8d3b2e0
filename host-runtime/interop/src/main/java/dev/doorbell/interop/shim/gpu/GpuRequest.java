package dev.doorbell.interop.shim.gpu;

import org.jspecify.annotations.Nullable;

/** Requests of the CUDA libraries; the order is that of {@code protocol.h}. */
enum GpuRequest {
  OPEN,
  ALLOCATE,
  FREE,
  LOAD,
  UNLOAD,
  FUNCTION,
  VARIABLE,
  LAUNCH,
  STREAM_CREATE,
  STREAM_DESTROY,
  SYNCHRONIZE,
  QUERY,
  EVENT_CREATE,
  EVENT_DESTROY,
  EVENT_RECORD,
  EVENT_SYNCHRONIZE,
  EVENT_QUERY,
  EVENT_ELAPSED,
  STREAM_WAIT,
  COPY,
  FILL,
  STORE,
  HOST_CALL,
  HOST_AWAIT,
  HOST_DONE,
  WAIT_VALUE,
  MAP_FILE,
  EXPORT,
  IMPORT,
  POINTER,
  MEMORY,
  RESET,
  TEXT,
  MISSING,
  MAP_AT,
  UNMAP,
  EVENT_EXPORT,
  EVENT_IMPORT;

  private static final GpuRequest[] ALL = values();

  /** The request of that number, from 1; null for another one. */
  static @Nullable GpuRequest of(int number) {
    return number >= 1 && number <= ALL.length ? ALL[number - 1] : null;
  }
}
