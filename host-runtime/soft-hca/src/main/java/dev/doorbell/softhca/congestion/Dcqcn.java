package dev.doorbell.softhca.congestion;

/**
 * The reaction point of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments",
 * SIGCOMM 2015, section 3.1 and figure 7).
 *
 * <p>A CNP cuts the rate by half of {@code alpha}, an estimate of how much of the traffic is marked
 * that decays while no CNP comes. Afterwards a timer and a byte counter raise it: {@code
 * recoverySteps} times half-way back to the rate before the cut, then additively, then, when both
 * have gone far, in large steps. A queue pair begins at line rate.
 *
 * <p>Timers cost nothing: what they would have done is made up for when the rate is asked for.
 */
public final class Dcqcn implements CongestionControl {
  /**
   * Parameters.
   *
   * @param lineBytesPerNano rate of the port
   * @param gain g, weight of a period in alpha
   * @param alphaNanos without a CNP for so long, alpha decays
   * @param timerNanos of the rate increase timer
   * @param counterBytes of the byte counter
   * @param recoverySteps F, steps of fast recovery
   * @param additiveBytesPerNano R_AI, step of additive increase
   * @param hyperBytesPerNano R_HAI, step of hyper increase
   * @param leastBytesPerNano the rate never falls below
   */
  public record Parameters(
      double lineBytesPerNano,
      double gain,
      long alphaNanos,
      long timerNanos,
      long counterBytes,
      int recoverySteps,
      double additiveBytesPerNano,
      double hyperBytesPerNano,
      double leastBytesPerNano) {
    private static final double PAPER_LINE = 5;

    public Parameters {
      if (!(lineBytesPerNano > 0)
          || !(gain > 0 && gain < 1)
          || alphaNanos <= 0
          || timerNanos <= 0
          || counterBytes <= 0
          || recoverySteps <= 0
          || !(additiveBytesPerNano > 0)
          || !(hyperBytesPerNano > 0)
          || !(leastBytesPerNano > 0 && leastBytesPerNano <= lineBytesPerNano)) {
        throw new IllegalArgumentException("DCQCN with %s".formatted(this));
      }
    }

    /**
     * Those deployed in the paper (its figure 14) for ports of 40 Gbit/s: g = 1/256, both timers 55
     * us, 10 MB, F = 5, R_AI = 40 Mbit/s. R_HAI is ten times R_AI, as in QCN (IEEE 802.1Qau), on
     * which DCQCN is based; the paper names none. Steps and the least rate, 1/1000, are in
     * proportion to the port.
     */
    public static Parameters published(double lineBytesPerNano) {
      double step = 0.005 * lineBytesPerNano / PAPER_LINE;
      return new Parameters(
          lineBytesPerNano,
          1 / 256.0,
          55_000,
          55_000,
          10_000_000,
          5,
          step,
          10 * step,
          lineBytesPerNano / 1000);
    }
  }

  private final Parameters of;
  private double current;
  private double target;
  private double alpha = 1;

  /** Nothing is limited before the first CNP, and again once the rate is back at the port's. */
  private boolean limiting;

  private long alphaDue;
  private long timerDue;
  private long bytesLeft;
  private int timerSteps;
  private int byteSteps;

  /** A queue pair at line rate. */
  public Dcqcn(Parameters of) {
    this.of = of;
    this.current = of.lineBytesPerNano;
    this.target = of.lineBytesPerNano;
  }

  @Override
  public double bytesPerNano(long now) {
    expire(now);
    return current;
  }

  @Override
  public void onNotification(long now) {
    expire(now);
    if (!limiting) {
      // Section 3.1: the limiter and its variables exist while the rate is below that of the port.
      limiting = true;
      alpha = 1;
    }
    target = current;
    current = Math.max(of.leastBytesPerNano, current * (1 - alpha / 2));
    alpha = (1 - of.gain) * alpha + of.gain;
    alphaDue = now + of.alphaNanos;
    timerDue = now + of.timerNanos;
    bytesLeft = of.counterBytes;
    timerSteps = 0;
    byteSteps = 0;
  }

  @Override
  public void onSent(long now, int frameBytes) {
    expire(now);
    if (!limiting) {
      return;
    }
    bytesLeft -= frameBytes;
    if (bytesLeft <= 0) {
      bytesLeft += of.counterBytes;
      byteSteps++;
      increase();
    }
  }

  /** Makes up for the timers that have expired, in their order. */
  private void expire(long now) {
    while (limiting && Math.min(alphaDue, timerDue) <= now) {
      if (alphaDue <= timerDue) {
        alphaDue += of.alphaNanos;
        alpha *= 1 - of.gain;
      } else {
        timerDue += of.timerNanos;
        timerSteps++;
        increase();
      }
    }
  }

  private void increase() {
    int least = Math.min(timerSteps, byteSteps);
    if (least > of.recoverySteps) {
      target += (least - of.recoverySteps) * of.hyperBytesPerNano;
    } else if (Math.max(timerSteps, byteSteps) > of.recoverySteps) {
      target += of.additiveBytesPerNano;
    }
    target = Math.min(target, of.lineBytesPerNano);
    current = (target + current) / 2;
    if (current > of.lineBytesPerNano * (1 - 1e-6)) {
      current = of.lineBytesPerNano;
      limiting = false;
    }
  }

  /** The estimate of how much is marked, from 0 to 1. */
  public double alpha() {
    return alpha;
  }
}
