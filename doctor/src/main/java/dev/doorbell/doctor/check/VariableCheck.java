package dev.doorbell.doctor.check;

import dev.doorbell.core.problem.Nearest;
import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.catalogue.Code;
import dev.doorbell.doctor.facts.EnvironmentVariable;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.facts.RdmaDevice;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Variables of NCCL, NVSHMEM and UCX: names that nobody reads, and values that mean no good. */
final class VariableCheck implements Check {

  private static final Code KNOWN = Code.of("DB-ENV-01");
  private static final Code UNKNOWN = Code.of("DB-ENV-02");
  private static final Code GONE = Code.of("DB-ENV-03");
  private static final Code BAD_VALUE = Code.of("DB-ENV-04");
  private static final Code FORCED = Code.of("DB-ENV-05");
  private static final Code DISABLED = Code.of("DB-ENV-06");
  private static final Code NO_DEVICE = Code.of("DB-ENV-07");
  private static final Code DMABUF_OFF = Code.of("DB-ENV-08");
  private static final Code NOT_MLX5 = Code.of("DB-ENV-09");

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
  public void examine(CheckedMachine machine, CheckResults found) {
    List<EnvironmentVariable> variables = machine.facts().variables();
    boolean known = true;
    for (EnvironmentVariable variable : variables) {
      if (!NAMES.known(variable.name())) {
        known = false;
        unknown(variable, found);
      }
      value(variable, found);
      meaning(machine, variable, found);
    }
    if (known && !variables.isEmpty()) {
      found.add(KNOWN, "", "%d variables".formatted(variables.size()));
    }
  }

  private static void unknown(EnvironmentVariable variable, CheckResults found) {
    String name = variable.name();
    if (NAMES.gone(name)) {
      found.add(GONE, name, "not read since NCCL 2.30.7 or earlier");
      return;
    }
    String near =
        Nearest.to(name, NAMES.candidates(name)).stream()
            .findFirst()
            .map(meant -> "; did you mean %s?".formatted(meant))
            .orElse("");
    found.add(UNKNOWN, name, "read by no library" + near);
  }

  private static void value(EnvironmentVariable variable, CheckResults found) {
    String name = variable.name();
    if (name.equals("NCCL_NTHREADS")) {
      int threads = variable.value().matches("\\d{1,5}") ? Integer.parseInt(variable.value()) : -1;
      if (threads < 64 || threads > 512 || threads % 32 != 0) {
        found.add(
            BAD_VALUE,
            name,
            "'%s' is no number of CUDA threads: 64 to 512 in steps of 32"
                .formatted(variable.value()));
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
        found.add(
            BAD_VALUE,
            name,
            "'%s' is none of %s"
                .formatted(plain, String.join(" ", words.stream().sorted().toList())));
      }
    }
  }

  private static void meaning(
      CheckedMachine machine, EnvironmentVariable variable, CheckResults found) {
    String name = variable.name();
    String value = variable.value().toLowerCase(Locale.ROOT);
    boolean yes = YES.contains(value);
    switch (name) {
      case "NCCL_NET_GDR_LEVEL" -> {
        if (value.equals("sys") || value.equals("5")) {
          found.add(FORCED, name, "is " + variable.value());
        } else if (value.equals("loc") || value.equals("0")) {
          found.add(DISABLED, name, "is " + variable.value());
        }
      }
      case "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE" -> {
        if (yes) {
          found.add(DISABLED, name, "is " + value);
        }
      }
      case "NCCL_NET" -> {
        if (value.equals("socket") && machine.hca()) {
          found.add(DISABLED, name, "is " + variable.value());
        }
      }
      case "NCCL_IB_HCA", "NVSHMEM_HCA_LIST" -> device(machine.facts(), variable, found);
      case "NCCL_DMABUF_ENABLE" -> {
        if (value.equals("0")) {
          closed(machine, name, found);
        }
      }
      case "NVSHMEM_IB_DISABLE_DMABUF" -> {
        if (yes) {
          closed(machine, name, found);
        }
      }
      case "NVSHMEM_IB_ENABLE_IBGDA" -> {
        if (yes
            && machine.hca()
            && machine.facts().nics().stream().noneMatch(PciFunction::mellanoxNic)) {
          found.add(NOT_MLX5, name, "is set, and no HCA is mlx5");
        }
      }
      default -> {
        // No other variable is judged by its value.
      }
    }
  }

  private static void closed(CheckedMachine machine, String name, CheckResults found) {
    if (machine.pair() && !machine.peerMemory()) {
      found.add(DMABUF_OFF, name, "closes the one way there is");
    }
  }

  private static void device(Facts facts, EnvironmentVariable variable, CheckResults found) {
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
      found.add(
          NO_DEVICE,
          variable.name(),
          "'%s' matches none of %s".formatted(text, String.join(" ", names)));
    }
  }

  private static boolean matches(String name, String word, boolean exact) {
    String device = word.strip().split(":", 2)[0];
    return exact ? name.equals(device) : name.startsWith(device);
  }
}
