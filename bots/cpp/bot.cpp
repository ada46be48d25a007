// The simplest complete bot in C++: it asks for the legal answers and picks one by chance.
#include "protocol.hpp"

Choice choose(const Turn &turn)
{
    return turn.legal[below(turn.legal.size())];
}

int main()
{
    run(choose, "cpp", "canonical");
}
