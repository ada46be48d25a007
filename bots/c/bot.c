/* The simplest complete bot in C: it asks for the legal answers and picks one by chance. */
#include "protocol.h"

static Choice choose(const Turn *turn)
{
    return turn->legal[below(turn->legals)];
}

int main(void)
{
    return run(choose, "c", "canonical");
}
