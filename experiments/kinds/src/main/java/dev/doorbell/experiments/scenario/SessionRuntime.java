package dev.doorbell.experiments.scenario;

import dev.doorbell.core.Basis;
import dev.doorbell.core.Probe;
import dev.doorbell.core.fabric.timed.machine.CpuPrices;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.hca.HcaAttributes;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.core.problem.EnvironmentException;
import dev.doorbell.core.problem.Problem;
import dev.doorbell.cuda.CudaProbe;
import dev.doorbell.experiments.config.kernel.KernelExtension;
import dev.doorbell.experiments.config.schema.Vocabulary;
import dev.doorbell.experiments.config.value.RecordCopy;
import dev.doorbell.experiments.kernels.UserKernel;
import dev.doorbell.experiments.plan.Catalogue;
import dev.doorbell.experiments.plan.Environment;
import dev.doorbell.experiments.plan.ExperimentRuntime;
import dev.doorbell.experiments.plan.Influence;
import dev.doorbell.experiments.plan.ModelConstant;
import dev.doorbell.experiments.plan.Point;
import dev.doorbell.experiments.plan.PointFailure;
import dev.doorbell.experiments.plan.PointRunner;
import dev.doorbell.experiments.plan.Prediction;
import dev.doorbell.experiments.plan.Timeline;
import dev.doorbell.experiments.scenario.device.RealHca;
import dev.doorbell.experiments.scenario.kernel.Protocols;
import dev.doorbell.experiments.scenario.kind.ExperimentKinds;
import dev.doorbell.experiments.scenario.transfer.Demo;
import dev.doorbell.experiments.scenario.transfer.TransferKind;
import dev.doorbell.experiments.scenario.world.ExecutionBackend;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.topology.TopologyVariant;
import dev.doorbell.experiments.topology.TopologyVariant.SmClock;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The runtime of this build: the PTX virtual machine in virtual or wall time, or a real GPU, with
 * software HCAs or those that libibverbs drives.
 */
public final class SessionRuntime implements ExperimentRuntime {
  private static final String PLACEMENT = "placement";
  private static final String VARIANT = "variant";
  private static final String SM_CLOCK = "sm_mhz";
  private static final String CPU_CLOCK = "cpu_mhz";
  private static final String CUDA = "cuda:";

  private final Map<String, Topology> topologies;

  /** Real HCAs that were chosen, by their word, and what they can do. */
  private final Map<String, HcaAttributes> devices = new ConcurrentHashMap<>();

  private final Protocols protocols;
  private final ExperimentKinds kinds;

  public SessionRuntime() {
    this(new ConcurrentHashMap<>(), Protocols.ofCatalogue());
  }

  private SessionRuntime(Map<String, Topology> topologies, Protocols protocols) {
    this.topologies = topologies;
    this.protocols = protocols;
    this.kinds = new ExperimentKinds(protocols);
  }

  @Override
  public ExperimentRuntime with(List<UserKernel> kernels) {
    return new SessionRuntime(topologies, protocols.with(kernels));
  }

  @Override
  public Environment choose(Environment.Request request) throws EnvironmentException {
    RealHca real = RealHca.of(request.hca());
    if (real != null) {
      return withRealHca(request, real);
    }
    if (request.gpu().startsWith(CUDA)) {
      return cuda(request);
    }
    boolean asked = !request.gpu().equals("auto");
    boolean wall = request.clock().equals("wall");
    return new Environment(
        new Environment.Choice(
            "ptx-vm", asked ? "requested" : "default; a real GPU: -s gpu=cuda:0"),
        new Environment.Choice(
            "soft-hca",
            request.hca().equals("auto") ? "default; a real HCA: -s hca=mlx5" : "requested"),
        new Environment.Choice(
            wall ? "wall" : "virtual",
            wall ? "requested; times say how fast the emulation is" : "no hardware to time"),
        wall ? Basis.EMULATED : Basis.MODELLED);
  }

  @Override
  public Environment choose(Environment.Request request, List<Point> points)
      throws EnvironmentException {
    Environment chosen = choose(request);
    boolean real = chosen.gpu().name().startsWith(CUDA);
    return real && points.stream().noneMatch(point -> kinds.of(point).usesHca())
        ? new Environment(
            chosen.gpu(),
            new Environment.Choice("none", "no HCA has a part in it"),
            new Environment.Choice("wall", "the GPU's own"),
            Basis.MEASURED)
        : chosen;
  }

  private Environment withRealHca(Environment.Request request, RealHca hca)
      throws EnvironmentException {
    if (request.clock().equals("virtual")) {
      throw new EnvironmentException(
          Problem.of("DB-E002", "clock", "a real HCA has no virtual time")
              .effect("nothing was run")
              .fix("use clock: wall (-s clock=wall), or hca: soft"));
    }
    boolean onGpu = request.gpu().startsWith(CUDA);
    Environment.Choice gpu =
        onGpu
            ? cuda(request).gpu()
            : new Environment.Choice(
                "ptx-vm",
                request.gpu().equals("auto") ? "default; a real GPU: -s gpu=cuda:0" : "requested");
    RealHca.Found found = hca.find();
    devices.put(hca.filter(), found.attributes());
    return new Environment(
        gpu,
        new Environment.Choice(hca.filter(), "requested; " + found.description()),
        new Environment.Choice(
            "wall", onGpu ? "the GPU's own" : "a real HCA has no other; kernels are emulated"),
        onGpu && !RealHca.isServed() ? Basis.MEASURED : Basis.EMULATED);
  }

  private static Environment cuda(Environment.Request request) throws EnvironmentException {
    Probe probe = CudaProbe.probe();
    if (!(probe instanceof Probe.Ready ready)) {
      throw new EnvironmentException(
          Problem.of("DB-E003", "gpu", "'%s': %s".formatted(request.gpu(), probe.describe()))
              .effect("nothing was run")
              .fix("use gpu: vm"));
    }
    if (request.clock().equals("virtual")) {
      throw new EnvironmentException(
          Problem.of("DB-E002", "clock", "a real GPU has no virtual time")
              .effect("nothing was run")
              .fix("use clock: wall (-s clock=wall), or gpu: vm"));
    }
    int ordinal = ordinal(request.gpu());
    if (ordinal >= ready.devices().size()) {
      throw new EnvironmentException(
          Problem.of(
                  "DB-E003",
                  "gpu",
                  "no '%s'; there is %s".formatted(request.gpu(), ready.describe()))
              .effect("nothing was run")
              .fix("use one of cuda:0 to cuda:%d".formatted(ready.devices().size() - 1)));
    }
    return new Environment(
        new Environment.Choice(
            request.gpu(),
            "requested; %s, %s".formatted(ready.devices().get(ordinal), ready.version())),
        new Environment.Choice("soft-hca", "on a host thread; a real HCA: -s hca=mlx5"),
        new Environment.Choice("wall", "the GPU's own; the HCA's answers are emulated"),
        Basis.EMULATED);
  }

  private static int ordinal(String gpu) {
    return Integer.parseInt(gpu.substring(CUDA.length()));
  }

  @Override
  public List<Problem> check(Point point) {
    List<Problem> problems = new ArrayList<>();
    try {
      topology(point);
      kinds.check(point, problems);
    } catch (ConfigException e) {
      problems.addAll(e.problems());
    }
    return problems;
  }

  @Override
  public List<Problem> check(Environment environment, Point point) {
    List<Problem> problems = new ArrayList<>();
    kinds.of(point).check(point, backend(environment), problems);
    return problems;
  }

  @Override
  public PointRunner runner(Environment environment) {
    ExecutionBackend backend = backend(environment);
    return (point, context) -> {
      try {
        return kinds.of(point).run(point, context, topology(point), backend);
      } catch (ConfigException e) {
        throw new PointFailure(PointFailure.Kind.FAILED, e.problems().getFirst(), e);
      }
    };
  }

  private ExecutionBackend backend(Environment environment) {
    String gpu = environment.gpu().name();
    RealHca hca = RealHca.of(environment.hca().name());
    HcaAttributes attributes = devices.get(environment.hca().name());
    if (hca != null && attributes != null) {
      int ordinal = gpu.startsWith(CUDA) ? ordinal(gpu) : ExecutionBackend.Verbs.VM;
      return new ExecutionBackend.Verbs(hca, attributes, ordinal, environment.basis());
    }
    if (gpu.startsWith(CUDA)) {
      return new ExecutionBackend.Cuda(ordinal(gpu));
    }
    return environment.basis() == Basis.EMULATED
        ? new ExecutionBackend.Wall()
        : new ExecutionBackend.Virtual();
  }

  @Override
  public Prediction predict(Point point) {
    try {
      return kinds.of(point).predict(point, topology(point));
    } catch (ConfigException e) {
      return Prediction.none();
    }
  }

  @Override
  public List<Influence> sensitivity(Point point, String metric, double share) {
    return Sensitivity.of(
        point.text(PLACEMENT),
        share,
        topology ->
            kinds.of(point).predict(point, topology).of(metric).map(Prediction.Term::value));
  }

  @Override
  public Timeline timeline(Point point, @Nullable Path capture) throws PointFailure {
    if (!(kinds.of(point) instanceof TransferKind transfers)) {
      throw new PointFailure(
          PointFailure.Kind.FAILED,
          Problem.of("DB-P030", point.id(), "only messages of transfer experiments are traced")
              .effect("no timeline")
              .fix("take a point of an experiment with a path and a size, such as pull-vs-push"));
    }
    try {
      return transfers.timeline(point, topology(point), capture);
    } catch (ConfigException e) {
      throw new PointFailure(PointFailure.Kind.FAILED, e.problems().getFirst(), e);
    }
  }

  @Override
  public List<ModelConstant> constants(List<Point> points) {
    Map<String, ModelConstant> constants = new LinkedHashMap<>();
    Set<Topology> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    for (Point point : points) {
      try {
        Topology topology = topology(point);
        if (!seen.add(topology)) {
          continue;
        }
        for (Constant constant : topology.constants()) {
          ModelConstant converted = Sensitivity.convert(topology.name(), constant);
          constants.putIfAbsent(converted.name(), converted);
        }
      } catch (ConfigException e) {
        // check() has reported it.
      }
    }
    return List.copyOf(constants.values());
  }

  @Override
  public long estimateNanos(Point point) {
    return kinds.of(point).estimateNanos(point);
  }

  @Override
  public Vocabulary names() {
    return new Vocabulary(protocols.names(), TopologyFile.names());
  }

  @Override
  public boolean uses(Point point, String setting) {
    return kinds.uses(point, setting);
  }

  @Override
  public Map<String, KernelExtension> extensions() {
    return protocols.extensions();
  }

  @Override
  public Catalogue catalogue() {
    List<Catalogue.Entry> kernels = protocols.all().stream().map(Kernels::entry).toList();
    List<Catalogue.Entry> files = new ArrayList<>();
    for (String name : TopologyFile.names()) {
      try {
        files.add(
            new Catalogue.Entry(
                name, TopologyFile.load(name).description(), TopologyFile.text(name)));
      } catch (ConfigException e) {
        throw new IllegalStateException("a topology of this build is broken: " + name, e);
      }
    }
    return new Catalogue(kernels, files);
  }

  @Override
  public void demo(PrintStream out) throws PointFailure {
    try {
      new Demo(out).run(TopologyFile.load("same-switch"));
    } catch (ConfigException e) {
      throw new PointFailure(PointFailure.Kind.FAILED, e.problems().getFirst(), e);
    }
  }

  private Topology topology(Point point) throws ConfigException {
    String name = point.text(PLACEMENT);
    Topology known = topologies.get(name);
    if (known == null) {
      known = TopologyFile.load(name);
      if (known.gpus().isEmpty()) {
        throw new ConfigException(
            List.of(
                Problem.of(
                        "DB-T015",
                        name,
                        "it has no GPU: it is a machine of published DMA measurements, on which no"
                            + " kernel runs")
                    .fix("name a placement with a GPU, such as same-switch")));
      }
      topologies.put(name, known);
    }
    Topology variant = TopologyVariant.of(point.text(VARIANT)).of(known);
    int cpu = Math.toIntExact(point.whole(CPU_CLOCK));
    if (cpu != 0) {
      List<CpuPrices> cpus = variant.cpus().stream().map(each -> each.at(cpu / 1e3)).toList();
      variant = RecordCopy.with(variant, Map.of("cpus", cpus));
    }
    int mhz = Math.toIntExact(point.whole(SM_CLOCK));
    return mhz == 0 ? variant : SmClock.at(variant, mhz);
  }
}
