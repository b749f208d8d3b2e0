package dev.doorbell.experiments.scenario.kernel;

import dev.doorbell.experiments.config.kernel.KernelDescriptor.Measures;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.kernel.KernelExtension.KernelMetric;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.kernels.KernelCatalogue;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The kernels that points may name: Doorbell's own, and those that the user brought. */
public final class Protocols {
  private static final String LATENCY = "latency";

  private final KernelCatalogue catalogue;

  private final SequencedMap<String, Protocol> brought;

  private Protocols(KernelCatalogue catalogue, Map<String, Protocol> brought) {
    this.catalogue = catalogue;
    this.brought = new LinkedHashMap<>(brought);
  }

  public static Protocols ofCatalogue() {
    return new Protocols(KernelCatalogue.load(), Map.of());
  }

  public Protocols with(List<UserKernel> kernels) {
    Map<String, Protocol> all = new LinkedHashMap<>(brought);
    for (UserKernel kernel : kernels) {
      if (catalogue.find(kernel.name()).isPresent()
          || all.putIfAbsent(kernel.name(), Protocol.of(kernel)) != null) {
        throw new IllegalArgumentException("two kernels are named " + kernel.name());
      }
    }
    return new Protocols(catalogue, all);
  }

  /** Doorbell's own first. */
  public List<String> names() {
    List<String> names = new ArrayList<>(catalogue.names());
    names.addAll(brought.keySet());
    return names;
  }

  /** Extensions of the user's kernels, by kernel. */
  public Map<String, KernelExtension> extensions() {
    Map<String, KernelExtension> extensions = new LinkedHashMap<>();
    brought.forEach((name, protocol) -> extensions.put(name, protocol.descriptor().extension()));
    return extensions;
  }

  public List<Protocol> all() {
    return names().stream().map(this::find).filter(Objects::nonNull).toList();
  }

  /** The kernel of a name, or null. */
  public @Nullable Protocol find(String name) {
    Protocol own = brought.get(name);
    return own != null
        ? own
        : catalogue.find(name).map(kernel -> Protocol.ofCatalogue(kernel.name())).orElse(null);
  }

  /** The kernel of the point that measures latency, or null. */
  public @Nullable Protocol latency(Point point) {
    return measuring(point, Measures.LATENCY);
  }

  /** The kernel of the point that measures goodput, and that traffic is counted of; or null. */
  public @Nullable Protocol goodput(Point point) {
    return measuring(point, Measures.GOODPUT);
  }

  private @Nullable Protocol measuring(Point point, Measures what) {
    for (String name : point.kernels()) {
      Protocol protocol = find(name);
      if (protocol != null && protocol.descriptor().measures() == what) {
        return protocol;
      }
    }
    return null;
  }

  /**
   * The kernel of the point that runs turn by turn: it measures latency, or its own metrics alone.
   */
  public @Nullable Protocol turns(Point point) {
    Protocol latency = latency(point);
    Protocol other = latency == null ? measuring(point, Measures.NOTHING) : latency;
    boolean measures = latency != null || (other != null && !brings(other).isEmpty());
    return measures ? other : null;
  }

  private static Set<String> brings(Protocol protocol) {
    return protocol.descriptor().extension().metrics().stream()
        .map(KernelMetric::name)
        .collect(Collectors.toSet());
  }

  /** Every metric that kernels of the point bring. */
  public Set<String> brought(Point point) {
    return point.kernels().stream()
        .map(this::find)
        .filter(Objects::nonNull)
        .flatMap(protocol -> brings(protocol).stream())
        .collect(Collectors.toSet());
  }

  /** Returns true if a metric of the point is of the kernel that runs turn by turn. */
  public boolean wantsTurns(Point point) {
    Protocol turns = turns(point);
    return wantsLatency(point)
        || (turns != null && point.metrics().stream().anyMatch(brings(turns)::contains));
  }

  public static boolean wantsLatency(Point point) {
    return point.metrics().contains(LATENCY);
  }

  /** Everything but latency, and what the kernel of turns brings, is of the stream of messages. */
  public boolean wantsGoodput(Point point) {
    Protocol turns = turns(point);
    return point.metrics().stream()
        .anyMatch(
            metric ->
                !metric.equals(LATENCY) && (turns == null || !brings(turns).contains(metric)));
  }
}
