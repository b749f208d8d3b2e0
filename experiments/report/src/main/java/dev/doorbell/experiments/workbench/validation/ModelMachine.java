package dev.doorbell.experiments.workbench.validation;

import dev.doorbell.core.Sha256;
import dev.doorbell.core.fabric.timed.machine.Topology;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.core.fabric.timed.machine.Topology.Constant.Origin;
import dev.doorbell.core.problem.ConfigException;
import dev.doorbell.experiments.topology.TopologyFile;
import dev.doorbell.experiments.topology.TopologyFile.MachineStands;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * A topology as rows see it.
 *
 * @param topology its name, or the path of its file
 * @param rows names of the machines of rows that it stands for
 * @param leftOut error of its fit on rows that the fit was made without, in words; may be empty
 * @param constants of it, each with its source
 * @param hash SHA-256 of its prices and its shape, lower-case hexadecimal; words do not count
 */
public record ModelMachine(
    String topology, List<String> rows, String leftOut, List<Constant> constants, String hash) {

  /**
   * Reads a topology.
   *
   * @param nameOrPath as {@link TopologyFile#load} takes it
   * @throws ConfigException with everything that is wrong, in the order of the file
   */
  public static ModelMachine load(String nameOrPath) throws ConfigException {
    Topology topology = TopologyFile.load(nameOrPath);
    MachineStands stands = TopologyFile.stands(nameOrPath);
    return new ModelMachine(
        nameOrPath, stands.rows(), stands.leftOut(), topology.constants(), hash(topology));
  }

  /** All topologies that come with the program. */
  public static List<ModelMachine> builtIn() {
    List<ModelMachine> machines = new ArrayList<>();
    for (String name : TopologyFile.names()) {
      try {
        machines.add(load(name));
      } catch (ConfigException e) {
        throw new IllegalStateException("a topology of this build is broken: " + name, e);
      }
    }
    return machines;
  }

  /** How many constants have each origin; every origin has an entry. */
  public Map<Origin, Long> origins() {
    Map<Origin, Long> counts = new EnumMap<>(Origin.class);
    for (Origin origin : Origin.values()) {
      counts.put(origin, constants.stream().filter(each -> each.origin() == origin).count());
    }
    return counts;
  }

  /**
   * Whether the source of one of its constants names a row: the model is then no prediction of it.
   * {@code koc.order.*} names all rows that begin so.
   */
  public boolean fittedTo(String row) {
    return constants.stream().anyMatch(constant -> names(constant.source(), row));
  }

  public static boolean names(String source, String row) {
    for (String word : source.split("[\\s,;()]+", -1)) {
      String id = word.replaceFirst("[.:]+$", "");
      if (id.equals(row)
          || (id.endsWith("*") && row.startsWith(id.substring(0, id.length() - 1)))) {
        return true;
      }
    }
    return false;
  }

  /** Keeps the hash of a topology that has no NVLink, whose file never said so. */
  private static final String NO_NVLINK = "nvlink=null, ";

  private static String hash(Topology topology) {
    Topology bare =
        new Topology(
            "",
            "",
            topology.gpus(),
            topology.cpus(),
            topology.nics(),
            topology.links(),
            topology.paths(),
            topology.network(),
            topology.nvlink(),
            List.of());
    return Sha256.hex(bare.toString().replace(NO_NVLINK, ""));
  }
}
