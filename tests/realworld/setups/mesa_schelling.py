"""Schelling's model of segregation, as mesa's examples have it; shortened."""

from mesa import Model
from mesa.datacollection import DataCollector
from mesa.discrete_space import CellAgent, OrthogonalMooreGrid


class SchellingAgent(CellAgent):
    def __init__(self, model, cell, agent_type, homophily=0.4, radius=1):
        super().__init__(model)
        self.cell = cell
        self.type = agent_type
        self.homophily = homophily
        self.radius = radius
        self.happy = False

    def assign_state(self):
        neighbors = list(self.cell.get_neighborhood(radius=self.radius).agents)
        similar = len([n for n in neighbors if n.type == self.type])
        self.happy = not neighbors or similar / len(neighbors) >= self.homophily
        self.model.happy += self.happy

    def step(self):
        if not self.happy:
            self.cell = self.model.grid.select_random_empty_cell()


class Schelling(Model):
    def __init__(self, height=12, width=12, density=0.8, minority_pc=0.5, seed=None):
        super().__init__(seed=seed)
        self.grid = OrthogonalMooreGrid((width, height), random=self.random, capacity=1)
        self.happy = 0
        self.datacollector = DataCollector(
            model_reporters={"happy": "happy", "population": lambda m: len(m.agents)},
            agent_reporters={"agent_type": "type"},
        )
        for cell in self.grid.all_cells:
            if self.random.random() < density:
                SchellingAgent(self, cell, 1 if self.random.random() < minority_pc else 0)
        self.agents.do("assign_state")
        self.datacollector.collect(self)

    def step(self):
        self.happy = 0
        self.agents.shuffle_do("step")
        self.agents.do("assign_state")
        self.datacollector.collect(self)
        self.running = self.happy < len(self.agents)


if __name__ == "__main__":
    model = Schelling(seed=42)
    while model.running and model.steps < 20:
        model.step()
    print(model.datacollector.get_model_vars_dataframe())
