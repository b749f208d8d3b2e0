package dev.doorbell.experiments.scenario;

import dev.doorbell.experiments.config.kernel.KernelDescriptor;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelBuffer;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelSetting;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelVerification;
import dev.doorbell.experiments.plan.Catalogue;
import dev.doorbell.experiments.scenario.kernel.Protocol;
import dev.doorbell.experiments.scenario.kernel.TransferPath;
import java.util.Locale;
import java.util.stream.Collectors;

final class Kernels {
  private Kernels() {}

  static Catalogue.Entry entry(Protocol protocol) {
    KernelDescriptor descriptor = protocol.descriptor();
    KernelDescriptor.Launch launch = descriptor.launch();
    StringBuilder text = new StringBuilder();
    row(text, "measures", descriptor.measures().name().toLowerCase(Locale.ROOT));
    row(
        text,
        "runs at",
        switch (launch.ranks()) {
              case BOTH -> "both ranks";
              case SENDER -> "the sender";
              case ALL -> "all ranks";
            }
            + ", blocks %d, threads %s"
                .formatted(
                    launch.blocks(),
                    launch.threads() == 0
                        ? "as many as the copying needs"
                        : Integer.toString(launch.threads()))
            + (launch.cooperative() ? ", all resident" : ""));
    row(text, "posters", launch.shared() ? "several to a queue pair" : "one to a queue pair");
    row(
        text,
        "messages",
        switch (launch.slots()) {
          case BLOCKS -> launch.allRanks() ? "one for each rank" : "one of each block";
          case THREADS -> "one of each thread";
          case WINDOW -> "a window of them";
        });
    if (launch.signals() > 0) {
      row(text, "signals", "%d words at each rank".formatted(launch.signals()));
    }
    row(
        text,
        "paths",
        String.join(", ", TransferPath.words().stream().filter(descriptor::takes).toList()));
    KernelExtension own = descriptor.extension();
    own.settings().forEach(setting -> row(text, "setting", setting(setting)));
    own.metrics().forEach(metric -> row(text, "metric", metric(metric)));
    own.buffers().forEach(buffer -> row(text, "buffer", buffer(buffer)));
    row(text, "verified", verified(descriptor));
    row(text, "entry", descriptor.entry() + "(" + String.join(", ", descriptor.parameters()) + ")");
    descriptor.isa().ifPresent(isa -> row(text, "PTX ISA", isa));
    row(
        text,
        "source",
        protocol.own()
            ? "kernels/src/" + descriptor.name() + ".cu"
            : descriptor.place("").replaceFirst(":[0-9]+:[0-9]+$", ""));
    return new Catalogue.Entry(descriptor.name(), descriptor.description(), text.toString());
  }

  private static String setting(KernelSetting setting) {
    String unit = setting.unit().isEmpty() ? "" : " " + setting.unit();
    return "%s %s, %s%s by default%s"
        .formatted(
            setting.type().word(),
            setting.name(),
            setting.standard().text(),
            unit,
            about(setting.description()));
  }

  private static String metric(KernelMetric metric) {
    return "%s %s%s, %s is better%s"
        .formatted(
            metric.type().word(),
            metric.name(),
            metric.unit().isEmpty() ? "" : " in " + metric.unit(),
            metric.higherIsBetter() ? "higher" : "lower",
            about(metric.description()));
  }

  private static String buffer(KernelBuffer buffer) {
    return "%s %s[%s]%s%s"
        .formatted(
            buffer.type().word(),
            buffer.name(),
            buffer.count(),
            buffer.multicast() == null ? "" : ", multicast as " + buffer.multicast(),
            about(buffer.description()));
  }

  private static String about(String description) {
    return description.isEmpty() ? "" : ": " + description;
  }

  private static String verified(KernelDescriptor descriptor) {
    return switch (descriptor.extension().verification().orElse(null)) {
      case null -> descriptor.verify().name().toLowerCase(Locale.ROOT);
      case KernelVerification.Entry entry -> "by entry " + entry.name();
      case KernelVerification.Expected expected ->
          expected.expected().entrySet().stream()
              .map(one -> "%s(rank, i) = %s".formatted(one.getKey(), one.getValue()))
              .collect(Collectors.joining("; "));
    };
  }

  private static void row(StringBuilder text, String key, String value) {
    text.append("%-9s %s%n".formatted(key, value));
  }
}
