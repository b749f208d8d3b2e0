/**
 * Wires GPUs, HCAs, proxies and a fabric into a world, and runs points of experiments in it. The
 * only package that knows the back ends.
 */
@NullMarked
package dev.doorbell.experiments.session;

import org.jspecify.annotations.NullMarked;
