package dev.doorbell.interop.shim.command;

import dev.doorbell.core.memory.AddressSpace;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.uverbs.generated.UverbsAbi;
import dev.doorbell.interop.shim.abi.ErrnoException;
import dev.doorbell.interop.shim.client.ClientProcess;
import dev.doorbell.interop.shim.client.Lease;
import java.time.Instant;

/**
 * The clock of timestamps in completions: nanoseconds of {@link System#nanoTime}. Programs convert
 * them to the time of day by {@code struct mlx5_ib_clock_info} (rdma/mlx5-abi.h), which a kernel
 * updates and which is written once here, since this clock needs no correction.
 *
 * <pre>
 *   0x00  sign: even while the fields may be read
 *   0x08  nsec: time of day, in ns since 1970, at
 *   0x10  cycles of the clock
 *   0x18  frac: part of a nanosecond
 *   0x20  mult, shift: nanoseconds of a cycle are mult / 2^shift
 *   0x28  mask of cycles
 *   0x30  overflow_period: ns until the structure has to be read again
 * </pre>
 */
final class DeviceClock {
  /** Its frequency. */
  static final long KILOHERTZ = 1_000_000;

  private static final int NSEC = 0x08;
  private static final int CYCLES = 0x10;
  private static final int MULT = 0x20;
  private static final int MASK = 0x28;
  private static final int OVERFLOW_PERIOD = 0x30;
  private static final long NANOS_PER_SECOND = 1_000_000_000L;

  private DeviceClock() {}

  /** Writes the structure where the program maps it, once for all devices that it opens. */
  static void publish(ClientProcess process) throws ErrnoException {
    Lease page = process.leaseDevice(UverbsAbi.CLOCK_OFFSET, AddressSpace.PAGE);
    long at = page.address();
    if (RawMemory.getLong(at + MASK) == 0) {
      write(at);
    }
    page.close();
  }

  private static void write(long at) {
    Instant now = Instant.now();
    RawMemory.putLong(at + NSEC, now.getEpochSecond() * NANOS_PER_SECOND + now.getNano());
    RawMemory.putLong(at + CYCLES, System.nanoTime());
    RawMemory.putInt(at + MULT, 1);
    RawMemory.putLong(at + MASK, -1L);
    RawMemory.putLong(at + OVERFLOW_PERIOD, Long.MAX_VALUE);
  }
}
