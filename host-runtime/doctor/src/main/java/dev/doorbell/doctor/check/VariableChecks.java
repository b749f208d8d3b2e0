package dev.doorbell.doctor.check;

import dev.doorbell.core.Resources;
import dev.doorbell.core.problem.Nearest;
import dev.doorbell.doctor.catalogue.CheckResults;
import dev.doorbell.doctor.facts.EnvironmentVariable;
import dev.doorbell.doctor.facts.Facts;
import dev.doorbell.doctor.facts.PciFunction;
import dev.doorbell.doctor.facts.RdmaDevice;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Variables of communication libraries. */
final class VariableChecks {
  /** Values by the names of variables that take no others. */
  private static final Map<String, Set<String>> WORDS = new TreeMap<>();

  /** The meaning of values that do harm. */
  private static final List<Meaning> MEANINGS = new ArrayList<>();

  static {
    for (String line : VariableNames.read("values.txt")) {
      String[] fields = line.split(" ", -1);
      if (fields.length == 2) {
        WORDS.put(fields[0], Set.of(fields[1].split(",", -1)));
      } else {
        MEANINGS.add(
            new Meaning(fields[0], Set.of(fields[1].split(",", -1)), fields[2], fields[3]));
      }
    }
  }

  /** A code for a variable that has one of these values where a condition of the machine holds. */
  private record Meaning(String name, Set<String> values, String code, String where) {
    boolean holds(CheckedMachine machine) {
      return switch (where) {
        case "hca" -> machine.hca();
        case "reordering" ->
            machine.hca()
                && (machine.virtualMachine()
                    || machine.facts().host().cpuVendor().equals("AuthenticAMD"));
        case "no-peermem" -> machine.pair() && !machine.peerMemory();
        case "no-mlx5" ->
            machine.hca() && machine.facts().nics().stream().noneMatch(PciFunction::mellanoxNic);
        default -> true;
      };
    }

    String says(String value) {
      return switch (where) {
        case "no-peermem" -> "closes the one way there is";
        case "no-mlx5" -> "is set, and no HCA is mlx5";
        default -> "is " + value;
      };
    }
  }

  private static final VariableNames NAMES = new VariableNames();

  private VariableChecks() {}

  /** Variables of NCCL, NVSHMEM and UCX: names that no library reads, and values that do harm. */
  static void variables(CheckedMachine machine, CheckResults found) {
    List<EnvironmentVariable> variables = machine.facts().variables();
    boolean known = true;
    for (EnvironmentVariable variable : variables) {
      if (!NAMES.known(variable.name())) {
        known = false;
        unknown(variable, found);
      }
      if (variable.missing()) {
        found.add(
            "DB-ENV-10",
            variable.name(),
            "'%s' of %s is not there".formatted(variable.value(), variable.origin()));
      }
      value(variable, found);
      meaning(machine, variable, found);
    }
    if (known && !variables.isEmpty()) {
      found.add("DB-ENV-01", "", "%d variables".formatted(variables.size()));
    }
  }

  private static void unknown(EnvironmentVariable variable, CheckResults found) {
    String name = variable.name();
    if (NAMES.gone(name)) {
      found.add("DB-ENV-03", name, "not read since NCCL 2.30.7 or earlier");
      return;
    }
    String near =
        Nearest.to(name, NAMES.candidates(name)).stream()
            .findFirst()
            .map(meant -> "; did you mean %s?".formatted(meant))
            .orElse("");
    found.add("DB-ENV-02", name, "read by no library" + near);
  }

  private static void value(EnvironmentVariable variable, CheckResults found) {
    String name = variable.name();
    Set<String> words = WORDS.get(name);
    if (words == null) {
      return;
    }
    for (String word : variable.value().split("[,;]", -1)) {
      String plain = word.strip().replaceFirst("^\\^", "").replaceFirst("^[a-zA-Z]+:", "");
      if (!words.contains(plain.toLowerCase(Locale.ROOT))) {
        found.add(
            "DB-ENV-04",
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
    if (name.equals("NCCL_IB_HCA") || name.equals("NVSHMEM_HCA_LIST")) {
      device(machine.facts(), variable, found);
    }
    MEANINGS.stream()
        .filter(each -> each.name.equals(name) && each.values.contains(value))
        .filter(each -> each.holds(machine))
        .forEach(each -> found.add(each.code, name, each.says(variable.value())));
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
    if (names.stream()
        .noneMatch(
            name -> words.stream().anyMatch(word -> matches(name, word, exact)) != exclude)) {
      found.add(
          "DB-ENV-07",
          variable.name(),
          "'%s' matches none of %s".formatted(text, String.join(" ", names)));
    }
  }

  private static boolean matches(String name, String word, boolean exact) {
    String device = word.strip().split(":", 2)[0];
    return exact ? name.equals(device) : name.startsWith(device);
  }

  /** The variables that NCCL, NVSHMEM and UCX read, from lists taken out of their sources. */
  private static final class VariableNames {
    private static final String UCX = "UCX_";

    /** Endings of variables that scripts and container images set to say where a library lies. */
    private static final List<String> PLACES =
        List.of("_HOME", "_DIR", "_ROOT", "_PATH", "_PREFIX", "_VERSION", "_LIBRARY", "_LIB");

    private final Set<String> nccl = read("nccl.txt");
    private final Set<String> gone = read("nccl-gone.txt");
    private final Set<String> nvshmem = read("nvshmem.txt");
    private final Set<String> ucx = read("ucx.txt");

    private static Set<String> read(String name) {
      return Resources.text(VariableNames.class, name)
          .lines()
          .filter(line -> !line.isEmpty() && line.charAt(0) != '#')
          .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Returns true if a library reads it, or it only says where one lies. */
    boolean known(String name) {
      return nccl.contains(name)
          || nvshmem.contains(name)
          || (name.startsWith(UCX) && known(name.substring(UCX.length()), 0))
          || PLACES.stream().anyMatch(name::endsWith);
    }

    /** Returns true if an earlier NCCL read it. */
    boolean gone(String name) {
      return gone.contains(name);
    }

    /**
     * UCX puts names of parts before names of options: {@code RC_MLX5_} before {@code TM_ENABLE}.
     */
    private boolean known(String rest, int depth) {
      if (ucx.contains(rest)) {
        return true;
      }
      return depth < 3
          && ucx.stream()
              .filter(part -> part.endsWith("_") && rest.startsWith(part))
              .anyMatch(part -> known(rest.substring(part.length()), depth + 1));
    }

    /** Names that a user may have meant. */
    Collection<String> candidates(String name) {
      if (name.startsWith(UCX)) {
        return ucx.stream().filter(word -> !word.endsWith("_")).map(word -> UCX + word).toList();
      }
      return name.startsWith("NVSHMEM_") ? nvshmem : nccl;
    }
  }
}
