package dev.doorbell.doctor.facts;

import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The ports of another host, from its {@code doorbell doctor --json}.
 *
 * @param source the file's name, for messages
 */
public record PeerReport(String source, List<Port> ports) {
  /**
   * A port.
   *
   * @param mtu RDMA MTU, 0 where unknown
   * @param ipv4 whether it has a RoCE v2 GID with an IPv4 address
   */
  public record Port(String name, String linkLayer, boolean active, int mtu, boolean ipv4) {
    /** Describes a port of this host in the same terms. */
    public static Port of(RdmaDevice hca, RdmaPort port) {
      return new Port(
          hca.name() + ":" + port.number(),
          port.linkLayer(),
          port.active(),
          port.mtu(),
          port.gids().stream().anyMatch(gid -> gid.version2() && gid.ipv4()));
    }
  }

  /** Thrown for a file that is not a report of the doctor. */
  public static final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableException(String message) {
      super(message);
    }
  }

  public PeerReport {
    ports = List.copyOf(ports);
  }

  public static PeerReport read(String source, String text) throws UnreadableException {
    try {
      JsonNode root = JsonMapper.shared().readTree(text);
      if (!root.path("ports").isArray()) {
        throw new UnreadableException("it has no list of ports");
      }
      List<Port> ports = new ArrayList<>();
      for (JsonNode port : root.path("ports")) {
        ports.add(
            new Port(
                port.path("device").asString("") + ":" + port.path("port").asInt(0),
                port.path("linkLayer").asString(""),
                port.path("state").asString("").equals("ACTIVE"),
                port.path("mtu").asInt(0),
                port.path("roceV2Ipv4").asBoolean(false)));
      }
      return new PeerReport(source, ports);
    } catch (JacksonException e) {
      throw new UnreadableException("it is no JSON: " + e.getOriginalMessage());
    }
  }

  public List<Port> active() {
    return ports.stream().filter(Port::active).toList();
  }
}
