package dev.doorbell.ptxvm.ir;

/**
 * A register of one function. Names repeat between scopes; identity is the object.
 *
 * @param name as the PTX spells it
 * @param type its declared type
 * @param id dense within the function, from 0
 */
public record Register(String name, ScalarType type, int id) {}
