package dev.doorbell.experiments.scenario.world;

import dev.doorbell.push.network.NetworkPlan;
import dev.doorbell.push.network.SwitchedNetwork.QueueOptions;
import dev.doorbell.softhca.congestion.CongestionOptions;

/**
 * Switches between the HCAs of a world in virtual time, and what the HCAs do about congestion.
 *
 * @param plan with a host for each rank
 * @param queues of the switches; HCAs send at the rate of their ports
 */
public record Switching(NetworkPlan plan, QueueOptions queues, CongestionOptions congestion) {}
