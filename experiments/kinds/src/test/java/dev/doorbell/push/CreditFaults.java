package dev.doorbell.push;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.memory.RawMemory;
import dev.doorbell.core.push.generated.PushCredit;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Loses credits of an engine on their way to GPU memory, or repeats old ones. */
public final class CreditFaults extends DevicePort {
  private final DevicePort port;
  private final int lost;
  private final boolean repeatsOld;
  private final MemorySegment old = Arena.ofAuto().allocate(PushCredit.BYTES, Long.BYTES);
  private boolean hasOld;
  private int credits;

  /** Credits that did not arrive. */
  public int losses;

  private CreditFaults(DevicePort port, int lost, boolean repeatsOld) {
    this.port = port;
    this.lost = lost;
    this.repeatsOld = repeatsOld;
  }

  /** Loses one credit in {@code number}. */
  public static CreditFaults lose(PushEngine engine, int number) {
    return attach(engine, number, false);
  }

  /** Lets every credit be followed by the one before it. */
  public static CreditFaults repeatOld(PushEngine engine) {
    return attach(engine, 0, true);
  }

  private static CreditFaults attach(PushEngine engine, int lost, boolean repeatsOld) {
    CreditFaults faults = new CreditFaults(engine.port, lost, repeatsOld);
    engine.port = faults;
    return faults;
  }

  @Override
  public void write(long source, long address, int bytes, boolean relaxed) {
    if (bytes != PushCredit.BYTES) {
      port.write(source, address, bytes, relaxed);
    } else if (lost > 0 && credits++ % lost == lost - 1) {
      losses++;
    } else {
      port.write(source, address, bytes, relaxed);
      if (repeatsOld && hasOld) {
        port.write(old.address(), address, bytes, relaxed);
      }
      RawMemory.copy(source, old.address(), bytes);
      hasOld = true;
    }
  }

  @Override
  public long map(long address, int bytes) {
    return port.map(address, bytes);
  }

  @Override
  public boolean read(long address, long target, int bytes, Completion completion) {
    return port.read(address, target, bytes, completion);
  }

  @Override
  public boolean atomic(
      long address, int bytes, long result, AtomicFunction atomic, Completion completion) {
    return port.atomic(address, bytes, result, atomic, completion);
  }

  @Override
  public boolean delay(long nanos, Completion completion) {
    return port.delay(nanos, completion);
  }

  @Override
  public void timer(long nanos, Completion completion) {
    port.timer(nanos, completion);
  }

  @Override
  public void onMmio(long page, MmioTarget target) {
    port.onMmio(page, target);
  }

  @Override
  public void offMmio(long page) {
    port.offMmio(page);
  }

  @Override
  public long now() {
    return port.now();
  }
}
