package dev.doorbell.experiments.workbench.dma;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.DevicePort;
import dev.doorbell.core.fabric.timed.TimedFabric;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.experiments.workbench.dma.DmaSetting.DmaTransfer;
import java.util.Arrays;
import java.util.SplittableRandom;

/** The device of a {@link DmaProbe}: it keeps transfers under way until enough have ended. */
final class DmaDevice implements Agent {
  private static final int WARM_UP = 400;
  private static final int LATENCIES = 301;
  private static final int RATED = 2000;

  /** Transfers that are under way, where many are: more than the device sends at a time. */
  private static final int DEPTH = 96;

  private static final long SEED = 42;

  private final DmaSetting setting;
  private final long window;

  /** Memory of the device: what is written, and behind it where what is read goes. */
  private final long own;

  private final DevicePort port;
  private final SplittableRandom random = new SplittableRandom(SEED);
  private final long stride;
  private final long places;
  private final long[] latencies = new long[LATENCIES];
  private int underWay;
  private long ended;
  private long begunAt;
  private long ratedFrom;
  private long ratedTo;

  DmaDevice(TimedFabric fabric, DmaSetting setting, long window, long own) {
    this.setting = setting;
    this.window = window;
    this.own = own;
    this.stride = DmaProbe.stride(setting.bytes(), setting.offset());
    this.places = setting.window() / stride;
    this.port = fabric.attachDevice(Locus.nic(0, setting.device()), this);
  }

  private long most() {
    return (long) WARM_UP + (setting.transfer().latency() ? LATENCIES : RATED);
  }

  boolean ended() {
    return ended >= most();
  }

  /** The median in nanoseconds, or the rate in bytes a nanosecond. */
  double result() {
    if (setting.transfer().latency()) {
      Arrays.sort(latencies);
      return latencies[LATENCIES / 2];
    }
    return (double) RATED * setting.bytes() / (ratedTo - ratedFrom);
  }

  @Override
  public int step(int budget) {
    if (ended()) {
      return 0;
    }
    int done = 0;
    int depth = setting.transfer().latency() ? 1 : DEPTH;
    while (underWay < depth) {
      begin();
      underWay++;
      done++;
    }
    return done;
  }

  private void begin() {
    long there = address();
    begunAt = port.now();
    DmaTransfer transfer = setting.transfer();
    if (transfer == DmaTransfer.WRITE_READ_LATENCY) {
      port.write(own, there, setting.bytes(), false);
    }
    boolean atOnce =
        transfer == DmaTransfer.WRITE_RATE
            ? port.writeThen(own, there, setting.bytes(), false, ok -> count())
            : port.read(there, own + stride, setting.bytes(), ok -> count());
    if (atOnce) {
      throw new IllegalStateException("host memory is no device's own");
    }
  }

  private long address() {
    long index = ended < places && places <= WARM_UP ? ended : random.nextLong(places);
    return window + index * stride + setting.offset();
  }

  private void count() {
    underWay--;
    long now = port.now();
    long index = ended++ - WARM_UP;
    if (index < 0) {
      ratedFrom = now;
      return;
    }
    if (index >= most() - WARM_UP) {
      return;
    }
    ratedTo = now;
    if (setting.transfer().latency()) {
      latencies[(int) index] = now - begunAt;
    }
  }
}
