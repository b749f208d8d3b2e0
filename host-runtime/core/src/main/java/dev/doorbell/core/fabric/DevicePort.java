package dev.doorbell.core.fabric;

import dev.doorbell.core.memory.RawMemory;
import org.jspecify.annotations.Nullable;

/**
 * The door through which a device does DMA, and takes time.
 *
 * <p>A call that returns true has finished. One that returns false goes on; its {@link Completion}
 * is called later, and the device's agent is stepped after it. Under {@link DirectFabric}
 * everything finishes at once. Ranges are checked; a bad one throws {@link
 * dev.doorbell.core.memory.AccessFault}.
 *
 * <p>Order (PCIe producer-consumer model): writes of one device to one place arrive in the order of
 * the calls unless {@code relaxed}; a read never returns bytes older than a write of the same
 * device that precedes it.
 */
public abstract class DevicePort {
  /**
   * Returns the address at which the device may read {@code bytes} bytes of {@code address} in
   * place, or 0 when they have to be transferred by {@link #read}.
   */
  public abstract long map(long address, int bytes);

  /**
   * DMA read into the device's own memory.
   *
   * @param address first byte in the address space
   * @param target native address of the device's buffer; holds the bytes when the call finishes
   */
  public abstract boolean read(long address, long target, int bytes, Completion completion);

  /** The device has read memory of a host's own, past this port: see {@link Fabric#hostActs}. */
  public void readOfHost() {}

  /**
   * DMA write, posted: the bytes are taken from {@code source} during the call, and the caller may
   * reuse it at once.
   *
   * @param relaxed may pass earlier writes (the relaxed-ordering attribute of the region)
   */
  public abstract void write(long source, long address, int bytes, boolean relaxed);

  /**
   * Does the same as {@link #write}, of the payload of one packet that the device may place before
   * and after others of the same connection: what orders it is what its sender knew, and nothing
   * that this device did. The bytes of the packet itself arrive in order unless {@code relaxed}.
   *
   * @param message what came with the packet ({@link DeviceUnit#departs}), or null
   */
  public void place(
      long source, long address, int bytes, boolean relaxed, @Nullable Object message) {
    write(source, address, bytes, relaxed);
  }

  /**
   * Lets the fabric choose where the device may do one of several things.
   *
   * @param alternatives at least 2
   * @return 0 to {@code alternatives - 1}; -1 where the fabric leaves the choice to the device
   */
  public int choose(int alternatives) {
    return -1;
  }

  /**
   * Copies between two ranges of the address space: a DMA read and a write, where both finish at
   * once and many bytes at a time are faster than few.
   *
   * @return false when nothing was done
   */
  public boolean copy(long from, long to, int bytes, boolean relaxed) {
    return false;
  }

  /**
   * DMA write of one naturally aligned 64-byte entry, posted, as one transaction: a reader that
   * sees its last 4 bytes sees the others too.
   */
  public void writeEntry(long source, long address) {
    write(source, address, 64, false);
  }

  /**
   * Returns the address at which the device may write a naturally aligned 64-byte entry in place,
   * its last 4 bytes last and with release semantics, or 0 when it has to go by {@link
   * #writeEntry}.
   */
  public long mapEntry(long address) {
    return 0;
  }

  /**
   * True when every call finishes at once: nothing of a device is ever under way, and what it wrote
   * is visible to those whom the same host thread steps next.
   */
  public boolean isImmediate() {
    return false;
  }

  /**
   * Does the same as {@link #write}, and reports when the bytes are visible at {@code address}.
   *
   * @return true when they are already
   */
  public boolean writeThen(
      long source, long address, int bytes, boolean relaxed, Completion visible) {
    write(source, address, bytes, relaxed);
    return true;
  }

  /**
   * Reads, modifies and writes one naturally aligned cell of 4 or 8 bytes for a remote atomic,
   * after all writes of this device that precede it.
   *
   * @param result native address of the cell's width for the old value, as it lies in memory
   * @param atomic computes the new value from the old one, both little-endian and zero-extended
   */
  public abstract boolean atomic(
      long address, int bytes, long result, AtomicFunction atomic, Completion completion);

  /** The new value of a cell from its old one. */
  @FunctionalInterface
  public interface AtomicFunction {
    long apply(long old);
  }

  /** Carries out {@link #writeEntry} on memory that this host thread reaches. */
  protected static void writeEntryInPlace(long source, long address) {
    for (int at = 0; at < 56; at += Long.BYTES) {
      RawMemory.putLong(address + at, RawMemory.getLong(source + at));
    }
    RawMemory.putInt(address + 56, RawMemory.getInt(source + 56));
    RawMemory.putIntRelease(address + 60, RawMemory.getInt(source + 60));
  }

  /** Carries out {@link #atomic} on memory that this host thread reaches. */
  protected static void atomicInPlace(long address, int bytes, long result, AtomicFunction atomic) {
    if (bytes == Integer.BYTES) {
      int old;
      do {
        old = RawMemory.getIntAcquire(address);
      } while (RawMemory.compareAndExchangeInt(address, old, (int) atomic.apply(old & 0xffff_ffffL))
          != old);
      RawMemory.putInt(result, old);
    } else {
      long old;
      do {
        old = RawMemory.getLongAcquire(address);
      } while (RawMemory.compareAndExchangeLong(address, old, atomic.apply(old)) != old);
      RawMemory.putLong(result, old);
    }
  }

  /** Takes {@code nanos} of virtual time; finishes at once where time is not modelled. */
  public abstract boolean delay(long nanos, Completion completion);

  /**
   * Does the same as {@link #delay(long, Completion)}, where {@code completion} is carried out at
   * another device.
   */
  public boolean delay(DevicePort there, long nanos, Completion completion) {
    return delay(nanos, completion);
  }

  /**
   * Says that nothing that this device does reaches another rank in less than {@code nanos}; a
   * fabric of virtual time may use that to work faster, and assumes nothing without it.
   */
  public void apart(long nanos) {}

  /**
   * Returns true if another host thread may step {@code there} meanwhile. What is handed over by
   * {@link #delay(DevicePort, long, Completion)} is this device's no longer then.
   */
  public boolean runsBeside(DevicePort there) {
    return false;
  }

  /** Calls {@code completion} after {@code nanos} of the fabric's clock, virtual or wall. */
  public abstract void timer(long nanos, Completion completion);

  /**
   * Forgets the timer that {@code completion} was given to last, where that costs little.
   *
   * @return false when the timer still fires
   */
  public boolean cancelTimer(Completion.Cancellable completion) {
    return false;
  }

  /** Routes writes to the UAR page at {@code page} (4096 bytes) to {@code target}. */
  public abstract void onMmio(long page, MmioTarget target);

  /** Nobody answers for the UAR page at {@code page} any more: stores there are errors again. */
  public void offMmio(long page) {}

  /**
   * A unit of the device, which has its own place in the order of events.
   *
   * @param queuePair the number of the queue pair that it belongs to
   * @param requests true for the half that carries out the queue pair's own requests, false for the
   *     one that carries out its peer's
   */
  public DeviceUnit unit(int queuePair, boolean requests) {
    return DeviceUnit.UNWATCHED;
  }

  /** Nanoseconds on the fabric's clock. */
  public abstract long now();
}
