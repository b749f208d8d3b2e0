package dev.doorbell.interop.shim.client;

import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.DeviceUnit;
import dev.doorbell.core.fabric.MmioTarget;
import org.jspecify.annotations.Nullable;

/** DMA by the fabric of a world to its window, and at once to other memory of programs. */
final class WorldPort extends DevicePort {
  private final DevicePort world;
  private final DevicePort outside;
  private final GpuWindow window;

  WorldPort(DevicePort world, DevicePort outside, GpuWindow window) {
    this.world = world;
    this.outside = outside;
    this.window = window;
  }

  private DevicePort to(long address) {
    return window.contains(address, 1) ? world : outside;
  }

  @Override
  public long map(long address, int bytes) {
    return to(address).map(address, bytes);
  }

  @Override
  public boolean read(long address, long target, int bytes, Completion completion) {
    if (!window.contains(address, 1)) {
      world.readOfHost();
    }
    return to(address).read(address, target, bytes, completion);
  }

  @Override
  public void write(long source, long address, int bytes, boolean relaxed) {
    to(address).write(source, address, bytes, relaxed);
  }

  @Override
  public void place(
      long source, long address, int bytes, boolean relaxed, @Nullable Object message) {
    to(address).place(source, address, bytes, relaxed, message);
  }

  @Override
  public int choose(int alternatives) {
    return world.choose(alternatives);
  }

  @Override
  public void writeEntry(long source, long address) {
    to(address).writeEntry(source, address);
  }

  @Override
  public long mapEntry(long address) {
    return to(address).mapEntry(address);
  }

  @Override
  public boolean writeThen(
      long source, long address, int bytes, boolean relaxed, Completion visible) {
    return to(address).writeThen(source, address, bytes, relaxed, visible);
  }

  @Override
  public boolean atomic(
      long address, int bytes, long result, AtomicFunction atomic, Completion completion) {
    return to(address).atomic(address, bytes, result, atomic, completion);
  }

  @Override
  public boolean delay(long nanos, Completion completion) {
    return world.delay(nanos, completion);
  }

  @Override
  public boolean delay(DevicePort there, long nanos, Completion completion) {
    return world.delay(inner(there), nanos, completion);
  }

  @Override
  public void apart(long nanos) {
    world.apart(nanos);
  }

  @Override
  public boolean runsBeside(DevicePort there) {
    return world.runsBeside(inner(there));
  }

  private static DevicePort inner(DevicePort port) {
    return port instanceof WorldPort other ? other.world : port;
  }

  @Override
  public void timer(long nanos, Completion completion) {
    world.timer(nanos, completion);
  }

  @Override
  public boolean cancelTimer(Completion.Cancellable completion) {
    return world.cancelTimer(completion);
  }

  @Override
  public void onMmio(long page, MmioTarget target) {
    world.onMmio(page, target);
    outside.onMmio(page, target);
  }

  @Override
  public void offMmio(long page) {
    world.offMmio(page);
    outside.offMmio(page);
  }

  @Override
  public DeviceUnit unit(int queuePair, boolean requests) {
    return world.unit(queuePair, requests);
  }

  @Override
  public long now() {
    return world.now();
  }
}
