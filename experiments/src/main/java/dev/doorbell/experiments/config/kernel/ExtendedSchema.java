package dev.doorbell.experiments.config.kernel;

import dev.doorbell.experiments.config.schema.Schema;
import java.util.Collection;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** The schema of experiments with the settings and metrics that kernels bring. */
public final class ExtendedSchema {
  private static final JsonNodeFactory JSON = JsonNodeFactory.instance;

  private ExtendedSchema() {}

  /** The same schema where the kernels bring nothing. */
  public static Schema of(Schema schema, Collection<KernelExtension> extensions) {
    if (extensions.stream().allMatch(one -> one.settings().isEmpty() && one.metrics().isEmpty())) {
      return schema;
    }
    ObjectNode root = (ObjectNode) schema.root().deepCopy();
    for (KernelExtension extension : extensions) {
      extension.settings().forEach(setting -> add(root, setting));
      extension.metrics().forEach(metric -> add(root, metric));
    }
    return Schema.of(root);
  }

  private static void add(ObjectNode root, KernelSetting setting) {
    ObjectNode node = JSON.objectNode();
    node.put("description", setting.description());
    if (setting.type().decimal()) {
      node.put("type", "number");
      node.put("minimum", setting.least());
      node.put("maximum", setting.most());
    } else {
      // As counts are, from wherever its range begins.
      ObjectNode count = object(root, "/$defs/count").deepCopy();
      count.remove("minimum");
      node.setAll(count);
      node.put("minimum", (long) setting.least());
      node.put("maximum", (long) setting.most());
    }
    node.put("x-unit", setting.unit());
    node.set("default", JSON.numberNode(KernelSetting.number(setting.standard())));
    if (!setting.type().decimal()) {
      node.put("default", (long) KernelSetting.number(setting.standard()));
    }
    object(root, "/$defs/setting").set(setting.name(), node);
  }

  private static void add(ObjectNode root, KernelMetric metric) {
    ObjectNode metrics = object(root, "/$defs/metric");
    String unit = metric.unit().isEmpty() ? "" : ", " + metric.unit();
    String meaning = metric.description() + "; sampled" + unit;
    JsonNode known = metrics.get("x-values").get(metric.name());
    if (known == null) {
      ((ArrayNode) metrics.get("enum")).add(metric.name());
      ((ArrayNode) metrics.get("x-sampled")).add(metric.name());
    }
    ((ObjectNode) metrics.get("x-values")).put(metric.name(), meaning);
  }

  private static ObjectNode object(ObjectNode root, String pointer) {
    return (ObjectNode) root.at(pointer);
  }
}
