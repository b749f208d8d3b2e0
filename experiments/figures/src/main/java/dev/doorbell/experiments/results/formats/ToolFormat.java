package dev.doorbell.experiments.results.formats;

import dev.doorbell.experiments.run.StoredRun;
import java.util.List;
import java.util.Locale;

/** Formats of other tools for a run: tables over message size, one for each other setting. */
public enum ToolFormat {
  /**
   * Prints as {@code ib_write_lat} and {@code ib_write_bw} of linux-rdma/perftest. Latencies are
   * half round trips; the average bandwidth is all bytes over all time.
   */
  PERFTEST {
    private static final String RULE = "-".repeat(87);

    @Override
    void latency(StringBuilder text, StoredRun run, Curve curve) {
      begin(text, run, curve, "RDMA_Write Latency Test");
      text.append(
          " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]   "
              + " t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n");
      for (Curve.Place place : curve.places()) {
        Curve.Series ns = place.series();
        line(
            text,
            " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t"
                + "%-7.2f \t\t%-7.2f",
            place.size(),
            ns.count(),
            ns.least() / 1e3,
            ns.greatest() / 1e3,
            place.median() / 1e3,
            ns.mean() / 1e3,
            ns.deviation() / 1e3,
            ns.quantile(0.99) / 1e3,
            ns.quantile(0.999) / 1e3);
      }
      text.append(RULE).append('\n');
    }

    @Override
    void bandwidth(StringBuilder text, StoredRun run, Curve curve) {
      begin(text, run, curve, "RDMA_Write BW Test");
      text.append(
          " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n");
      for (Curve.Place place : curve.places()) {
        double average = place.series().meanOfRates();
        line(
            text,
            " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f",
            place.size(),
            place.series().count(),
            place.series().greatest() * MIB_PER_GB,
            average * MIB_PER_GB,
            average * 1e3 / place.size());
      }
      text.append(RULE).append('\n');
    }

    private void begin(StringBuilder text, StoredRun run, Curve curve, String test) {
      text.append(RULE).append('\n').append("                    ").append(test).append('\n');
      line(text, " Doorbell        : %s", about(run, curve));
      text.append(RULE).append('\n');
    }
  },
  /**
   * Prints as nccl-tests: a transfer between two as {@code sendrecv_perf}, an exchange among all
   * ranks as {@code alltoall_perf}. A put is out of place and there is no in-place one, which the
   * columns say. The algorithm's bandwidth is the size over the time; the bus bandwidth is that
   * times what the operation's bytes leave a rank: 1 for a transfer, (n - 1) / n for an all-to-all,
   * whose size is the send buffer of a rank with the block for itself (PERFORMANCE.md of
   * nccl-tests).
   */
  NCCL {
    @Override
    void latency(StringBuilder text, StoredRun run, Curve curve) {
      begin(text, run, curve, "");
      double sum = 0;
      for (Curve.Place place : curve.places()) {
        sum += row(text, place.size(), place.size(), place.median(), 1);
      }
      end(text, run, curve, sum);
    }

    // Pipelined messages of one sender take their share of the time, as nccl-tests counts
    // operations that are issued one behind the other.
    @Override
    void bandwidth(StringBuilder text, StoredRun run, Curve curve) {
      if (!Curve.of(run, LATENCY).isEmpty()) {
        return;
      }
      begin(text, run, curve, "# time: of all messages, divided by their number\n");
      double sum = 0;
      for (Curve.Place place : curve.places()) {
        sum += row(text, place.size(), place.size(), place.size() / place.median(), 1);
      }
      end(text, run, curve, sum);
    }

    @Override
    void exchange(StringBuilder text, StoredRun run, Curve curve) {
      begin(text, run, curve, "# size: of a rank's send buffer; count: elements for each rank\n");
      double sum = 0;
      for (Curve.Place place : curve.places()) {
        long ranks = place.point().whole("ranks");
        long count = place.point().whole("messages") * place.size();
        sum += row(text, ranks * count, count, place.median(), (ranks - 1.0) / ranks);
      }
      end(text, run, curve, sum);
    }

    private void begin(StringBuilder text, StoredRun run, Curve curve, String remark) {
      line(text, "# doorbell %s", about(run, curve));
      text.append(remark).append("#\n");
      text.append(
          "#                                                              out-of-place             "
              + "          in-place          \n");
      text.append(
          "#       size         count      type   redop    root     time   algbw   busbw  #wrong  "
              + "   time   algbw   busbw  #wrong\n");
      text.append(
          "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)          "
              + "   (us)  (GB/s)  (GB/s)\n");
    }

    // Prints one size and returns its bus bandwidth in GB/s.
    private double row(StringBuilder text, long size, long count, double nanos, double factor) {
      double bandwidth = size / nanos;
      line(
          text,
          "%12d  %12d  %8s  %6s  %6d  %7s  %6.2f  %6.2f  %5s  %7s  %6s  %6s  %5s",
          size,
          count,
          "int8",
          "none",
          -1,
          time(nanos / 1e3),
          bandwidth,
          bandwidth * factor,
          "0",
          "N/A",
          "N/A",
          "N/A",
          "N/A");
      return bandwidth * factor;
    }

    private void end(StringBuilder text, StoredRun run, Curve curve, double sum) {
      text.append("# Out of bounds values : 0 OK\n");
      line(text, "# Avg bus bandwidth    : %g ", sum / curve.places().size());
      line(text, "#\n# Collective test concluded: %s", run.data().experiment());
    }

    private static String time(double micros) {
      int decimals = micros >= 10_000 ? 0 : micros >= 1000 ? 1 : 2;
      return String.format(Locale.ROOT, "%." + decimals + "f", micros);
    }
  },
  /** Prints as {@code osu_latency} and {@code osu_bw} of the OSU micro-benchmarks 7. */
  OSU {
    @Override
    void latency(StringBuilder text, StoredRun run, Curve curve) {
      begin(text, run, curve, "Latency", "# Size          Latency (us)");
      for (Curve.Place place : curve.places()) {
        line(text, "%-10d%18.2f", place.size(), place.series().mean() / 1e3);
      }
    }

    @Override
    void bandwidth(StringBuilder text, StoredRun run, Curve curve) {
      begin(text, run, curve, "Bandwidth", "# Size      Bandwidth (MB/s)");
      for (Curve.Place place : curve.places()) {
        line(text, "%-10d%18.2f", place.size(), place.series().meanOfRates() * 1e3);
      }
    }

    private void begin(
        StringBuilder text, StoredRun run, Curve curve, String test, String columns) {
      line(text, "# doorbell %s", about(run, curve));
      line(text, "# OSU MPI-CUDA %s Test v7.2", test);
      text.append("# Send Buffer on DEVICE (D) and Receive Buffer on DEVICE (D)\n");
      text.append(columns).append('\n');
      text.append("# Datatype: MPI_CHAR.\n");
    }
  };

  private static final String LATENCY = "latency";
  private static final String GOODPUT = "goodput";
  private static final String DISPATCH = "dispatch";
  private static final double MIB_PER_GB = 1e9 / (1 << 20);

  abstract void latency(StringBuilder text, StoredRun run, Curve curve);

  abstract void bandwidth(StringBuilder text, StoredRun run, Curve curve);

  /** Prints an exchange among all ranks; tools that measure two ends alone print none. */
  void exchange(StringBuilder text, StoredRun run, Curve curve) {}

  /**
   * The run's tables; empty where it has nothing over a message size that the tool measures. The
   * goodput of an exchange is that of all ports together, which no tool prints.
   */
  public String text(StoredRun run) {
    StringBuilder text = new StringBuilder();
    List<Curve> exchanges = Curve.of(run, DISPATCH);
    if (!exchanges.isEmpty()) {
      exchanges.forEach(curve -> exchange(text, run, curve));
      return text.toString();
    }
    List<Curve> latencies = Curve.of(run, LATENCY);
    latencies.forEach(curve -> latency(text, run, curve));
    Curve.of(run, GOODPUT).forEach(curve -> bandwidth(text, run, curve));
    return text.toString();
  }

  private static String about(StoredRun run, Curve curve) {
    return "%s %s %s".formatted(run.data().experiment(), curve.where(), run.data().basis().word());
  }

  @SuppressWarnings("AnnotateFormatMethod") // the annotation would be a dependency
  private static void line(StringBuilder text, String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }
}
