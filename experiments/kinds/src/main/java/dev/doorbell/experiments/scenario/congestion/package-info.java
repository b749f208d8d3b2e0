/**
 * Flows that meet in switches: incast, permutation, all-to-all and a victim, under congestion
 * controls of HCAs and pauses of switches.
 */
@NullMarked
package dev.doorbell.experiments.scenario.congestion;

import org.jspecify.annotations.NullMarked;
