package dev.doorbell.experiments.doctor;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.experiments.doctor.facts.Facts;
import dev.doorbell.experiments.doctor.facts.PciFunction;
import dev.doorbell.experiments.doctor.facts.RdmaDevice;
import dev.doorbell.experiments.doctor.facts.Variable;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Variables of NCCL, NVSHMEM and UCX: names that nobody reads, and values that mean no good. */
final class VariableCheck implements Check {
  private static final String LISTS =
      "The environment of this process and /etc/nccl.conf, against the names that the sources of"
          + " NCCL 2.30.7, NVSHMEM 3.5.1 and UCX 1.23 read.";
  private static final String VALUES =
      "The environment of this process and /etc/nccl.conf, against what NCCL 2.30.7 accepts.";
  private static final String ENV = "NCCL user guide, environment variables";

  static final Code KNOWN =
      Code.pass("DB-ENV-01", "every variable is read by its library", LISTS, "They take effect.");
  static final Code UNKNOWN =
      Code.warn(
          "DB-ENV-02",
          "a variable that no library reads",
          LISTS,
          "It does nothing, whatever it was set for.",
          "use the name that the finding suggests, or leave it out. NCCL_IB_MTU: set the"
              + " interface's MTU. NCCL_TIMEOUT: NCCL_IB_TIMEOUT or the framework's own."
              + " NCCL_IB_DISABLE_ECN: ECN is set in the NIC, per priority. NCCL_RX_RING_SIZE:"
              + " NCCL_BUFFSIZE",
          ENV);
  static final Code GONE =
      Code.warn(
          "DB-ENV-03",
          "a variable that only earlier versions of NCCL read",
          "The tags v2.3.5 to v2.30.7 of NVIDIA/nccl, searched for it.",
          "It does nothing with a current NCCL.",
          "leave it out",
          ENV);
  static final Code BAD_VALUE =
      Code.warn(
          "DB-ENV-04",
          "a value that NCCL does not take",
          VALUES,
          "NCCL refuses to start, or takes another value and says so at INFO alone.",
          "use a value that the finding names",
          ENV);
  static final Code FORCED =
      Code.warn(
          "DB-ENV-05",
          "GPUDirect RDMA is forced over any distance",
          "NCCL_NET_GDR_LEVEL is SYS (or 5).",
          "NICs read GPU memory across sockets, which may be slower than staging through host"
              + " memory: a knob for tests, no fix for \"GPU Direct RDMA Disabled\".",
          "leave it out; see DB-TOPO-04",
          ENV);
  static final Code DISABLED =
      Code.warn(
          "DB-ENV-06",
          "RDMA or peer-to-peer is switched off",
          "NCCL_IB_DISABLE=1, NCCL_P2P_DISABLE=1, NCCL_NET_GDR_LEVEL=0 or LOC, or NCCL_NET=Socket.",
          "NCCL uses sockets or host memory though it could do better.",
          "leave it out, unless you are measuring just that",
          ENV);
  static final Code NO_DEVICE =
      Code.fail(
          "DB-ENV-07",
          "no HCA matches the variable",
          "NCCL_IB_HCA (prefixes; = exact; ^ excludes) or NVSHMEM_HCA_LIST against"
              + " /sys/class/infiniband.",
          "The library finds no device: NCCL falls back to sockets, NVSHMEM ends.",
          "name one of the devices that the finding lists",
          ENV);
  static final Code DMABUF_OFF =
      Code.warn(
          "DB-ENV-08",
          "dma-buf is switched off, and there is no peermem",
          "NCCL_DMABUF_ENABLE=0 or NVSHMEM_IB_DISABLE_DMABUF=1, and no peer memory client is"
              + " registered.",
          "The one way that would work here is closed: no GPUDirect RDMA.",
          "leave it out",
          ENV);
  static final Code NOT_MLX5 =
      Code.fail(
          "DB-ENV-09",
          "IBGDA is asked for, and no HCA is mlx5",
          "NVSHMEM_IB_ENABLE_IBGDA=1, and no RDMA device is one of NVIDIA's.",
          "NVSHMEM ends: its GPU-initiated transport speaks mlx5 alone.",
          "leave it out and use the proxy transport",
          "https://github.com/deepseek-ai/DeepEP/issues/759");

  private static final Set<String> YES = Set.of("1", "y", "yes", "on", "true");
  private static final Map<String, Set<String>> WORDS =
      Map.of(
          "NCCL_ALGO",
          Set.of("ring", "tree", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat"),
          "NCCL_PROTO",
          Set.of("ll", "ll128", "simple"),
          "NCCL_P2P_LEVEL",
          Set.of("loc", "nvl", "pix", "pxb", "phb", "sys", "0", "1", "2", "3", "4", "5"),
          "NCCL_NET_GDR_LEVEL",
          Set.of("loc", "pix", "pxb", "p2c", "phb", "sys", "0", "1", "2", "3", "4", "5"),
          "NCCL_DEBUG",
          Set.of("version", "warn", "info", "abort", "trace", "none"));

  private static final VariableNames NAMES = new VariableNames();

  @Override
  public List<Code> codes() {
    return List.of(
        KNOWN, UNKNOWN, GONE, BAD_VALUE, FORCED, DISABLED, NO_DEVICE, DMABUF_OFF, NOT_MLX5);
  }

  @Override
  public void examine(Case patient, Consumer<Finding> found) {
    List<Variable> variables = patient.facts().variables();
    boolean known = true;
    for (Variable variable : variables) {
      if (!NAMES.known(variable.name())) {
        known = false;
        found.accept(unknown(variable));
      }
      value(variable, found);
      meaning(patient, variable, found);
    }
    if (known && !variables.isEmpty()) {
      found.accept(new Finding(KNOWN, "", "%d variables".formatted(variables.size())));
    }
  }

  private static Finding unknown(Variable variable) {
    String name = variable.name();
    if (NAMES.gone(name)) {
      return new Finding(GONE, name, "not read since NCCL 2.30.7 or earlier");
    }
    String near =
        Nearest.to(name, NAMES.candidates(name)).stream()
            .findFirst()
            .map(meant -> "; did you mean %s?".formatted(meant))
            .orElse("");
    return new Finding(UNKNOWN, name, "read by no library" + near);
  }

  private static void value(Variable variable, Consumer<Finding> found) {
    String name = variable.name();
    if (name.equals("NCCL_NTHREADS")) {
      int threads = variable.value().matches("\\d{1,5}") ? Integer.parseInt(variable.value()) : -1;
      if (threads < 64 || threads > 512 || threads % 32 != 0) {
        found.accept(
            new Finding(
                BAD_VALUE,
                name,
                "'%s' is no number of CUDA threads: 64 to 512 in steps of 32"
                    .formatted(variable.value())));
      }
      return;
    }
    Set<String> words = WORDS.get(name);
    if (words == null) {
      return;
    }
    for (String word : variable.value().split("[,;]", -1)) {
      String plain = word.strip().replaceFirst("^\\^", "").replaceFirst("^[a-zA-Z]+:", "");
      if (!words.contains(plain.toLowerCase(Locale.ROOT))) {
        found.accept(
            new Finding(
                BAD_VALUE,
                name,
                "'%s' is none of %s"
                    .formatted(plain, String.join(" ", words.stream().sorted().toList()))));
      }
    }
  }

  private static void meaning(Case patient, Variable variable, Consumer<Finding> found) {
    String name = variable.name();
    String value = variable.value().toLowerCase(Locale.ROOT);
    boolean yes = YES.contains(value);
    switch (name) {
      case "NCCL_NET_GDR_LEVEL" -> {
        if (value.equals("sys") || value.equals("5")) {
          found.accept(new Finding(FORCED, name, "is " + variable.value()));
        } else if (value.equals("loc") || value.equals("0")) {
          found.accept(new Finding(DISABLED, name, "is " + variable.value()));
        }
      }
      case "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE" -> {
        if (yes) {
          found.accept(new Finding(DISABLED, name, "is " + value));
        }
      }
      case "NCCL_NET" -> {
        if (value.equals("socket") && patient.hca()) {
          found.accept(new Finding(DISABLED, name, "is " + variable.value()));
        }
      }
      case "NCCL_IB_HCA", "NVSHMEM_HCA_LIST" -> device(patient.facts(), variable, found);
      case "NCCL_DMABUF_ENABLE" -> {
        if (value.equals("0")) {
          closed(patient, name, found);
        }
      }
      case "NVSHMEM_IB_DISABLE_DMABUF" -> {
        if (yes) {
          closed(patient, name, found);
        }
      }
      case "NVSHMEM_IB_ENABLE_IBGDA" -> {
        if (yes
            && patient.hca()
            && patient.facts().nics().stream().noneMatch(PciFunction::mellanoxNic)) {
          found.accept(new Finding(NOT_MLX5, name, "is set, and no HCA is mlx5"));
        }
      }
      default -> {
        // No other variable is judged by its value.
      }
    }
  }

  private static void closed(Case patient, String name, Consumer<Finding> found) {
    if (patient.pair() && !patient.peerMemory()) {
      found.accept(new Finding(DMABUF_OFF, name, "closes the one way there is"));
    }
  }

  private static void device(Facts facts, Variable variable, Consumer<Finding> found) {
    List<String> names = facts.rdmaDevices().stream().map(RdmaDevice::name).toList();
    if (names.isEmpty()) {
      return;
    }
    String text = variable.value();
    boolean exclude = text.startsWith("^");
    String rest = exclude ? text.substring(1) : text;
    boolean exact = rest.startsWith("=") || variable.name().equals("NVSHMEM_HCA_LIST");
    List<String> words = List.of((rest.startsWith("=") ? rest.substring(1) : rest).split(",", -1));
    Optional<String> match =
        names.stream()
            .filter(name -> words.stream().anyMatch(word -> matches(name, word, exact)) != exclude)
            .findFirst();
    if (match.isEmpty()) {
      found.accept(
          new Finding(
              NO_DEVICE,
              variable.name(),
              "'%s' matches none of %s".formatted(text, String.join(" ", names))));
    }
  }

  private static boolean matches(String name, String word, boolean exact) {
    String device = word.strip().split(":", 2)[0];
    return exact ? name.equals(device) : name.startsWith(device);
  }
}
