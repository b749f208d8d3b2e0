package dev.doorbell.experiments.scenario.transfer;

import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.Samples;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kind.PointRun;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.DoubleStream;

/** Samples of the metrics that a kernel brings and a point asks for, trial after trial. */
final class BroughtSamples {
  private final String kernel;
  private final Map<KernelMetric, double[]> taken = new LinkedHashMap<>();

  BroughtSamples(PointRun<?> run, Protocol protocol) {
    kernel = protocol.name();
    protocol.descriptor().extension().metrics().stream()
        .filter(metric -> run.asksFor(metric.name()))
        .forEach(metric -> taken.put(metric, new double[0]));
  }

  /** Adds what the kernels of a trial have written. */
  void take(TransferTrial trial) {
    taken.replaceAll(
        (metric, before) ->
            DoubleStream.concat(Arrays.stream(before), Arrays.stream(trial.samples(metric)))
                .toArray());
  }

  /**
   * Adds all of them to a point's result.
   *
   * @throws PointFailure when a kernel wrote what is no number
   */
  void addTo(PointRun<?> run) throws PointFailure {
    for (Map.Entry<KernelMetric, double[]> entry : taken.entrySet()) {
      KernelMetric metric = entry.getKey();
      if (!Arrays.stream(entry.getValue()).allMatch(Double::isFinite)) {
        throw run.failed(
            "DB-P048",
            "kernel %s wrote a number of %s that is not finite".formatted(kernel, metric.name()));
      }
      run.add(Samples.of(metric.name(), metric.unit(), entry.getValue()));
    }
  }
}
