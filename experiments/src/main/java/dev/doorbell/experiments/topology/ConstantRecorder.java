package dev.doorbell.experiments.topology;

import dev.doorbell.core.fabric.timed.machine.Topology.Constant;
import dev.doorbell.experiments.config.document.NodeProblems;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Records the constants of a topology file while it is read, and its problems. */
final class ConstantRecorder extends NodeProblems {
  private final Map<String, Double> substitutes;
  private final List<Constant> constants = new ArrayList<>();

  ConstantRecorder(String file) {
    this(file, Map.of());
  }

  /**
   * @param substitutes values that replace those in the file, by key of the constant
   */
  ConstantRecorder(String file, Map<String, Double> substitutes) {
    super(file, TopologyFile.KIND);
    this.substitutes = Map.copyOf(substitutes);
  }

  /** Returns the value of a constant: its substitute, or that in the file. */
  double value(String key, double inFile) {
    return substitutes.getOrDefault(key, inFile);
  }

  void constant(Constant constant) {
    constants.add(constant);
  }

  List<Constant> constants() {
    return constants;
  }
}
