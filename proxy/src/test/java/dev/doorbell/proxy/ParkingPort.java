package dev.doorbell.proxy;

import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Rmw;
import dev.doorbell.core.fabric.ThreadPort;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A port that writes down what a thread does and, at random, parks it: then it insists that the
 * very same access comes next, as a port of a fabric with virtual time would.
 */
@SuppressWarnings("ReferenceEquality") // nobody's log is one object
final class ParkingPort extends ThreadPort {
  private final ThreadPort port;
  private final SplittableRandom random;
  private final double parking;
  private final List<String> log;
  private String awaited = "";
  long spent;
  long failedPolls;

  /**
   * @param parking how likely an access parks
   * @param log takes one line for each store and fence
   */
  ParkingPort(ThreadPort port, SplittableRandom random, double parking, List<String> log) {
    this.port = port;
    this.random = random;
    this.parking = parking;
    this.log = log;
  }

  private boolean parks(String what, long address, long low, long high, int access) {
    String line = "%s 0x%x 0x%x 0x%x %s".formatted(what, address, low, high, Access.name(access));
    if (!awaited.isEmpty() && !awaited.equals(line)) {
      throw new AssertionError("parked at '%s', came back with '%s'".formatted(awaited, line));
    }
    parked = random.nextDouble() < parking;
    awaited = parked ? line : "";
    if (!parked && log != NOBODY && !what.startsWith("load")) {
      log.add(line);
    }
    return parked;
  }

  /** For those who do not want a log. */
  static final List<String> NOBODY = new ArrayList<>();

  @Override
  public long load8(long address, int access) {
    return parks("load8", address, 0, 0, access) ? random.nextLong() : port.load8(address, access);
  }

  @Override
  public long load16(long address, int access) {
    return parks("load16", address, 0, 0, access)
        ? random.nextLong()
        : port.load16(address, access);
  }

  @Override
  public long load32(long address, int access) {
    return parks("load32", address, 0, 0, access)
        ? random.nextLong()
        : port.load32(address, access);
  }

  @Override
  public long load64(long address, int access) {
    return parks("load64", address, 0, 0, access)
        ? random.nextLong()
        : port.load64(address, access);
  }

  @Override
  public long load128(long address, int access) {
    if (parks("load128", address, 0, 0, access)) {
      high = random.nextLong();
      return random.nextLong();
    }
    long low = port.load128(address, access);
    high = port.high;
    return low;
  }

  @Override
  public void store8(long address, long value, int access) {
    if (!parks("store8", address, value, 0, access)) {
      port.store8(address, value, access);
    }
  }

  @Override
  public void store16(long address, long value, int access) {
    if (!parks("store16", address, value, 0, access)) {
      port.store16(address, value, access);
    }
  }

  @Override
  public void store32(long address, long value, int access) {
    if (!parks("store32", address, value & 0xffffffffL, 0, access)) {
      port.store32(address, value, access);
    }
  }

  @Override
  public void store64(long address, long value, int access) {
    if (!parks("store64", address, value, 0, access)) {
      port.store64(address, value, access);
    }
  }

  @Override
  public void store128(long address, long low, long high, int access) {
    if (!parks("store128", address, low, high, access)) {
      port.store128(address, low, high, access);
    }
  }

  @Override
  public long atomic(
      Rmw operation, long address, int bytes, long operand, long compare, int access) {
    return parks(operation.name(), address, operand, compare, access)
        ? random.nextLong()
        : port.atomic(operation, address, bytes, operand, compare, access);
  }

  @Override
  public void fence(int access) {
    if (!parks("fence", 0, 0, 0, access)) {
      port.fence(access);
    }
  }

  @Override
  public void executed(int instructions) {
    port.executed(instructions);
  }

  @Override
  public void spend(long nanos) {
    if (!awaited.isEmpty()) {
      throw new AssertionError("spends time while parked at '%s'".formatted(awaited));
    }
    if (log != NOBODY) {
      log.add("spend " + nanos);
    }
    spent += nanos;
    port.spend(nanos);
  }

  @Override
  public void pollFailed(long atMostNanos) {
    if (!awaited.isEmpty()) {
      throw new AssertionError("idle while parked at '%s'".formatted(awaited));
    }
    failedPolls++;
    port.pollFailed(atMostNanos);
  }

  @Override
  public long now() {
    return port.now();
  }
}
