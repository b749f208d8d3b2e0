package dev.doorbell.core.gpu;

import dev.doorbell.core.Probe;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Memory of this machine's GPUs that other processes have allocated. The CPU reaches it by copies;
 * each has ended when its call returns. All methods belong to one thread.
 */
public interface SharedGpus extends AutoCloseable {
  /** Opens the GPUs of one maker; found as a service. */
  interface Provider {
    Probe probe();

    /**
     * Opens them. A GPU is not used before memory of it is opened.
     *
     * @throws GpuException when the driver refuses
     */
    SharedGpus open();
  }

  /** The way in which a process shares an allocation. */
  enum Kind {
    /** A handle of 64 bytes ({@code cuIpcGetMemHandle}). */
    LEGACY,
    /** A file descriptor ({@code CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}). */
    DESCRIPTOR,
    /** A handle of 64 bytes ({@code CU_MEM_HANDLE_TYPE_FABRIC}). */
    FABRIC
  }

  /**
   * One allocation, or what is mapped of it.
   *
   * @param start address in the process that has it
   * @param bytes its length
   * @param device the GPU
   * @param handle 64 bytes as 8 little-endian words; empty where the kind is a descriptor
   * @param descriptor a file descriptor of this process, which stays open; or -1
   */
  record Piece(Kind kind, long start, long bytes, UUID device, List<Long> handle, int descriptor) {
    public Piece {
      handle = List.copyOf(handle);
    }
  }

  /** Opened memory: one range of addresses of this process, which only these methods reach. */
  interface Range {
    long address();

    /** Ends it. */
    void close();
  }

  /**
   * Opens memory.
   *
   * @param pieces each begins where the one before it ends, at least one; several only of kinds
   *     other than {@link Kind#LEGACY}
   * @return a range that begins with the first byte of the first piece
   * @throws GpuException when the driver refuses, or the GPU is hidden from this process
   */
  Range open(List<Piece> pieces);

  /**
   * Copies to native memory.
   *
   * @return false when the range is not open or the driver refuses ({@link #failure})
   */
  boolean read(long address, long target, long bytes);

  /**
   * Copies from native memory. Where the bytes end at an address that 8 divides, the last 8 appear
   * after the others.
   *
   * @return as {@link #read}
   */
  boolean write(long source, long address, long bytes);

  /**
   * Copies between two opened ranges, in the order of {@link #write}.
   *
   * @return as {@link #read}; false too where the ranges' GPUs do not reach each other
   */
  boolean copy(long from, long to, long bytes);

  /** Why the last call has returned false, or null. */
  @Nullable String failure();

  @Override
  void close();
}
