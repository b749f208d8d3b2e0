package dev.doorbell.core.fabric.timed;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Completion;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.MmioTarget;
import dev.doorbell.core.fabric.timed.machine.NicPrices;
import dev.doorbell.core.memory.Allocation;
import dev.doorbell.core.memory.MemoryKind;
import dev.doorbell.core.memory.RawMemory;
import java.lang.foreign.Arena;

/**
 * The stages of an HCA that a latency consists of, and nothing else: doorbell, WQE fetch, parsing,
 * payload, packet. Its WQEs are its own: where the payload is (0: in the WQE), how much, and blocks
 * of 64 bytes.
 */
final class TinyHca implements Agent, MmioTarget, AutoCloseable {
  static final int BLOCK = 64;
  static final int HEADER = 24;

  private final Arena arena = Arena.ofShared();
  private final long wqe = arena.allocate(1024, 8).address();
  private final long payload = arena.allocate(1 << 21, 8).address();
  private final NicPrices prices;
  private final DevicePort port;
  private final Allocation page;
  private final long ring;
  private final int ringBlocks;
  private int blueFlameBytes;

  /** When the last payload byte was held and the packet could leave, or -1. */
  long readyAt = -1;

  /** What it held then. */
  long first;

  long last;

  /**
   * @param ring where the WQE lies when a doorbell rings
   * @param ringBlocks how many blocks it has
   */
  TinyHca(Fabric fabric, NicPrices prices, long ring, int ringBlocks) {
    this.prices = prices;
    this.port = fabric.attachDevice(World.NIC, this);
    this.page = fabric.memory().allocate(MemoryKind.UAR, World.NIC, 4096, "doorbells");
    this.ring = ring;
    this.ringBlocks = ringBlocks;
    port.onMmio(page.address(), this);
  }

  long doorbell() {
    return page.address() + 0x800;
  }

  @Override
  public void mmioWrite(long address, long source, int bytes) {
    if (bytes <= Long.BYTES) {
      after(port.delay((long) prices.doorbell(), ok -> fetch()), this::fetch);
      return;
    }
    RawMemory.copy(source, wqe + blueFlameBytes, bytes);
    blueFlameBytes += bytes;
    if (blueFlameBytes == blocks() * BLOCK) {
      parse();
    }
  }

  private int blocks() {
    return (int) RawMemory.getLong(wqe + 16);
  }

  private void fetch() {
    Completion parse = ok -> parse();
    after(port.read(ring, wqe, ringBlocks * BLOCK, parse), this::parse);
  }

  private void parse() {
    after(port.delay((long) prices.wqe(), ok -> gather()), this::gather);
  }

  private void gather() {
    long address = RawMemory.getLong(wqe);
    int bytes = (int) RawMemory.getLong(wqe + 8);
    if (address == 0) {
      RawMemory.copy(wqe + HEADER, payload, bytes);
      packetise(bytes);
      return;
    }
    long mapped = port.map(address, bytes);
    if (mapped != 0) {
      RawMemory.copy(mapped, payload, bytes);
      packetise(bytes);
      return;
    }
    after(port.read(address, payload, bytes, ok -> packetise(bytes)), () -> packetise(bytes));
  }

  private void packetise(int bytes) {
    first = RawMemory.getByte(payload);
    last = RawMemory.getByte(payload + bytes - 1);
    after(port.delay((long) prices.packet(), ok -> ready()), this::ready);
  }

  private void ready() {
    readyAt = port.now();
  }

  private static void after(boolean done, Runnable next) {
    if (done) {
      next.run();
    }
  }

  @Override
  public int step(int budget) {
    return 0;
  }

  @Override
  public void close() {
    arena.close();
  }
}
